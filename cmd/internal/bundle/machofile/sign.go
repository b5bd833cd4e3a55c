package machofile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Numbers of <kern/cs_blobs.h>; what a signature is made of is big-endian.
const (
	magicSignature    = 0xfade0cc0
	magicDirectory    = 0xfade0c02
	magicRequirements = 0xfade0c01
	slotDirectory     = 0
	slotRequirements  = 2
	directoryVersion  = 0x20400
	directorySize     = 88
	flagAdHoc         = 0x2
	hashSHA256        = 2
	pageBits          = 12
	mainProgram       = 1
)

// Places of special hashes, before those of the pages.
const (
	// InfoSlot is Info.plist's.
	InfoSlot = 1
	// ResourcesSlot is that of the list of the bundle's files.
	ResourcesSlot = 3
)

// Seal is what a signature says beside the file's own bytes.
type Seal struct {
	// Identifier is the signing identifier.
	Identifier string
	// Info and Resources are the bundle's Info.plist and list of files, for the
	// program that the bundle is started by; nil for every other file.
	Info, Resources []byte
}

// Sign puts an ad-hoc signature into the file, in place of the one there. A
// linker for arm64 always leaves one.
func (f *File) Sign(seal Seal) error {
	c, ok := f.find(signature)
	if !ok || c.size < 16 {
		return errors.New("has no place for a signature: link it with one")
	}
	link, ok := f.segment("__LINKEDIT")
	if !ok {
		return errors.New("has no segment for a signature")
	}
	start := int(f.word(c.at + 8))
	if start > len(f.data) || start%16 != 0 || uint64(start) < f.long(link.at+40) || start <= c.at+c.size {
		return errors.New("has its signature in an odd place")
	}
	pages := (start + 1<<pageBits - 1) >> pageBits
	directory := directorySize + len(seal.Identifier) + 1 + (ResourcesSlot+pages)*sha256.Size
	size := 12 + 2*8 + directory + 12

	// The file is hashed as it will be.
	f.data = append(f.data[:start:start], make([]byte, size)...)
	f.setWord(c.at+12, uint32(size))
	held := uint64(len(f.data)) - f.long(link.at+40)
	f.setLong(link.at+48, held)
	f.setLong(link.at+32, (held+1<<14-1)&^(1<<14-1))

	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.BigEndian, v) // a buffer takes everything
		}
	}
	requirements := []byte{0xfa, 0xde, 0x0c, 0x01, 0, 0, 0, 12, 0, 0, 0, 0}
	put(uint32(magicSignature), uint32(size), uint32(2))
	put(uint32(slotDirectory), uint32(28), uint32(slotRequirements), uint32(28+directory))
	hashes := uint32(directory - pages*sha256.Size)
	put(uint32(magicDirectory), uint32(directory), uint32(directoryVersion), uint32(flagAdHoc), hashes,
		uint32(directorySize), uint32(ResourcesSlot), uint32(pages), uint32(start))
	put(uint8(sha256.Size), uint8(hashSHA256), uint8(0), uint8(pageBits), uint32(0), uint32(0), uint32(0), uint32(0), uint64(0))
	put(f.text64()...)
	put([]byte(seal.Identifier), uint8(0))
	put(hashOf(seal.Resources), hashOf(requirements), hashOf(seal.Info))
	for page := range pages {
		sum := sha256.Sum256(f.data[page<<pageBits : min((page+1)<<pageBits, start)])
		put(sum[:])
	}
	put(requirements)
	if b.Len() != size {
		return fmt.Errorf("a signature of %d bytes where %d were expected", b.Len(), size)
	}
	copy(f.data[start:], b.Bytes())
	return f.read()
}

// text64 is where the code lies, and whether it is a program's.
func (f *File) text64() []any {
	text, _ := f.segment("__TEXT")
	flags := uint64(0)
	if f.Program {
		flags = mainProgram
	}
	if text.size == 0 {
		return []any{uint64(0), uint64(0), flags}
	}
	return []any{f.long(text.at + 40), f.long(text.at + 48), flags}
}

// hashOf is the hash of what is there, and zeros for what is not.
func hashOf(data []byte) []byte {
	if data == nil {
		return make([]byte, sha256.Size)
	}
	sum := sha256.Sum256(data)
	return sum[:]
}
