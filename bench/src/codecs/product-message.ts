// Messages of the product payloads, with types as `protoc-gen-es` would generate them, made at run
// time from descriptors.

import { create, createFileRegistry, type Message } from '@bufbuild/protobuf'
import type { GenMessage } from '@bufbuild/protobuf/codegenv2'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import type { Product, ProductPage } from './payloads.ts'

type ProductMessage = Message<'bench.Product'> & Product
type PageMessage = Message<'bench.Page'> & ProductPage

const field = (name: string, number: number, type: Type, more: object = {}) => ({
  name,
  number,
  type,
  label: Label.OPTIONAL,
  ...more,
})
const repeated = { label: Label.REPEATED }

const file = create(FileDescriptorProtoSchema, {
  name: 'bench.proto',
  package: 'bench',
  syntax: 'proto3',
  messageType: [
    {
      name: 'Price',
      field: [field('amount', 1, Type.INT32), field('currency', 2, Type.STRING)],
    },
    {
      name: 'Product',
      field: [
        field('id', 1, Type.INT32),
        field('sku', 2, Type.STRING),
        field('title', 3, Type.STRING),
        field('brand', 4, Type.STRING),
        field('price', 5, Type.MESSAGE, { typeName: '.bench.Price' }),
        field('stock', 6, Type.INT32),
        field('rating', 7, Type.DOUBLE),
        field('in_stock', 8, Type.BOOL),
        field('free_shipping', 9, Type.BOOL),
        field('colour', 10, Type.STRING),
        field('tags', 11, Type.STRING, repeated),
        field('image', 12, Type.STRING),
      ],
    },
    {
      name: 'Page',
      field: [
        field('category', 1, Type.STRING),
        field('page', 2, Type.INT32),
        field('total', 3, Type.INT32),
        field('products', 4, Type.MESSAGE, { ...repeated, typeName: '.bench.Product' }),
      ],
    },
  ],
})
const registry = createFileRegistry(file, () => undefined)

export const ProductSchema = registry.getMessage('bench.Product') as GenMessage<ProductMessage>
export const PageSchema = registry.getMessage('bench.Page') as GenMessage<PageMessage>

export function productMessage(product: Product): ProductMessage {
  return create(ProductSchema, product as never)
}

export function pageMessage(page: ProductPage): PageMessage {
  return create(PageSchema, page as never)
}
