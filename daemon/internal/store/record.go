package store

import (
	"encoding/binary"
	"hash/crc32"
)

// sumSize is what the checksum in front of every value takes.
const sumSize = 4

// seal puts a checksum over bucket, key and value in front of the value: bbolt
// has none for what it stores, and a flipped bit would pass for data.
func seal(bucket, key string, value []byte) []byte {
	out := make([]byte, sumSize, sumSize+len(value))
	binary.LittleEndian.PutUint32(out, sum([]byte(bucket), []byte(key), value))
	return append(out, value...)
}

// unseal returns the value inside the record, not copied, and whether it is the one
// that was sealed.
func unseal(bucket, key, record []byte) ([]byte, bool) {
	if len(record) < sumSize {
		return nil, false
	}
	value := record[sumSize:]
	return value, binary.LittleEndian.Uint32(record) == sum(bucket, key, value)
}

// sum is CRC-32C over all parts, the lengths of the names included, so that no
// two places have the same.
func sum(bucket, key, value []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	c := crc32.Update(0, table, []byte{byte(len(bucket)), byte(len(bucket) >> 8)})
	c = crc32.Update(c, table, bucket)
	c = crc32.Update(c, table, []byte{byte(len(key)), byte(len(key) >> 8)})
	c = crc32.Update(c, table, key)
	return crc32.Update(c, table, value)
}
