// Message types as `protoc-gen-es` would generate them, made at run time from descriptors.

import { create, createFileRegistry } from '@bufbuild/protobuf'
import type { DescMessage, Message } from '@bufbuild/protobuf'
import type { GenMessage } from '@bufbuild/protobuf/codegenv2'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt'
import type { Timestamp } from '@bufbuild/protobuf/wkt'

export type Size = Message<'shop.Size'> & { width: number }

export type Product = Message<'shop.Product'> & {
  name: string
  price: number
  ratio: number
  stock: number
  soldInAll: bigint
  image: Uint8Array
  tags: string[]
  counts: Record<string, number>
  parts: Product[]
  kind: { case: 'book'; value: string } | { case: 'size'; value: Size } | { case: undefined }
  note?: string
  active: boolean
  blobs: Record<string, Uint8Array>
  at?: Timestamp
}

/** Of proto2: a default, a required field, bytes. */
export type Old = Message<'shop.Old'> & { n: number; name: string; body: Uint8Array }

const field = (name: string, number: number, type: Type, more: object = {}) => ({
  name,
  number,
  type,
  label: Label.OPTIONAL,
  ...more,
})
const repeated = { label: Label.REPEATED }
const entry = (name: string, value: Type): object => ({
  name,
  field: [field('key', 1, Type.STRING), field('value', 2, value)],
  options: { mapEntry: true },
})

const product = {
  name: 'Product',
  nestedType: [entry('CountsEntry', Type.INT32), entry('BlobsEntry', Type.BYTES)],
  oneofDecl: [{ name: 'kind' }, { name: '_note' }],
  field: [
    field('name', 1, Type.STRING),
    field('price', 2, Type.DOUBLE),
    field('ratio', 3, Type.FLOAT),
    field('stock', 4, Type.INT32),
    field('sold_in_all', 5, Type.INT64),
    field('image', 6, Type.BYTES),
    field('tags', 7, Type.STRING, repeated),
    field('counts', 8, Type.MESSAGE, { ...repeated, typeName: '.shop.Product.CountsEntry' }),
    field('parts', 9, Type.MESSAGE, { ...repeated, typeName: '.shop.Product' }),
    field('book', 10, Type.STRING, { oneofIndex: 0 }),
    field('size', 11, Type.MESSAGE, { oneofIndex: 0, typeName: '.shop.Size' }),
    field('note', 12, Type.STRING, { oneofIndex: 1, proto3Optional: true }),
    field('active', 13, Type.BOOL),
    field('blobs', 14, Type.MESSAGE, { ...repeated, typeName: '.shop.Product.BlobsEntry' }),
    field('at', 15, Type.MESSAGE, { typeName: '.google.protobuf.Timestamp' }),
  ],
}

const size = { name: 'Size', field: [field('width', 1, Type.SINT32)] }

const old = {
  name: 'Old',
  field: [
    field('n', 1, Type.INT32, { defaultValue: '7' }),
    field('name', 2, Type.STRING, { label: Label.REQUIRED }),
    field('body', 3, Type.BYTES),
  ],
}

function typesOf(
  name: string,
  syntax: string,
  messageType: object[],
): (name: string) => DescMessage {
  const dependency = ['google/protobuf/timestamp.proto']
  const file = create(FileDescriptorProtoSchema, {
    name,
    package: 'shop',
    syntax,
    dependency,
    messageType,
  })
  const registry = createFileRegistry(file, (path) =>
    path === dependency[0] ? file_google_protobuf_timestamp : undefined,
  )
  return (typeName) => registry.getMessage(typeName)!
}

const shop = typesOf('shop.proto', 'proto3', [product, size])
export const ProductSchema = shop('shop.Product') as GenMessage<Product>
export const SizeSchema = shop('shop.Size') as GenMessage<Size>
export const OldSchema = typesOf('old.proto', 'proto2', [old])('shop.Old') as GenMessage<Old>
/** A later version of `Size`, which knows one field more. */
export const NewerSizeSchema = typesOf('newer.proto', 'proto3', [
  { name: 'Size', field: [...size.field, field('unit', 2, Type.STRING)] },
])('shop.Size') as GenMessage<Size & { unit: string }>
