package bundletest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fulmen/cmd/internal/bundle/inspect"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/machofile"
	"fulmen/daemon/api"
	"fulmen/native/plist"
)

// Sign signs a bundle ad hoc, innermost first, then the bundle by the program that it
// is started by. Files keep their mode.
func Sign(bundle string) error {
	contents := filepath.Join(bundle, "Contents")
	for _, file := range layout.Signatures() {
		seal := Seal{Identifier: file.Identifier}
		if file.Path == "" { // the last: the bundle
			file.Path = "MacOS/" + api.BundleExecutable
			var err error
			if seal.Info, err = os.ReadFile(filepath.Join(contents, "Info.plist")); err != nil {
				return err
			}
			if seal.Resources, err = writeList(bundle); err != nil {
				return err
			}
		}
		path := filepath.Join(contents, file.Path)
		content, err := os.ReadFile(path)
		if err == nil {
			content, err = SignFile(content, seal)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.Path, err)
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// writeList makes the list of the files of a bundle, whose programs are signed, but for
// the one that it is started by.
func writeList(bundle string) ([]byte, error) {
	hashes, faults := inspect.Hashes(bundle)
	if len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "; "))
	}
	old, entries := map[string]any{}, map[string]any{}
	for name, hash := range hashes {
		entries[name] = map[string]any{inspect.ListKey(name): hash}
		if strings.HasPrefix(name, "Resources/") { // what systems before 10.9.5 look at
			content, err := os.ReadFile(filepath.Join(bundle, "Contents", name))
			if err != nil {
				return nil, err
			}
			sum := sha1.Sum(content)
			old[name] = sum[:]
		}
	}
	list, err := plist.Write(map[string]any{"files": old, "files2": entries})
	if err != nil {
		return nil, err
	}
	to := filepath.Join(bundle, "Contents", inspect.ListFile)
	return list, errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, list, 0o644))
}

// Seal is what a signature says beside the file's own bytes.
type Seal struct {
	// Identifier is the signing identifier.
	Identifier string
	// Info and Resources are the bundle's Info.plist and list of files, for the
	// program that the bundle is started by; nil for every other file.
	Info, Resources []byte
}

const (
	directorySize = 88
	pageBits      = 12
)

// SignFile puts an ad-hoc signature into a program or library, in place of the one
// there. A linker for arm64 always leaves one.
func SignFile(data []byte, seal Seal) ([]byte, error) {
	file, err := macho.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	place, link, at := 0, 0, headerSize
	var text, edit macho.SegmentHeader
	for _, load := range file.Loads {
		segment, _ := load.(*macho.Segment)
		switch {
		case segment != nil && segment.Name == "__TEXT":
			text = segment.SegmentHeader
		case segment != nil && segment.Name == "__LINKEDIT":
			edit, link = segment.SegmentHeader, at
		case binary.LittleEndian.Uint32(load.Raw()) == 0x1d && len(load.Raw()) >= 16:
			place = at
		}
		at += len(load.Raw())
	}
	if place == 0 || link == 0 {
		return nil, errors.New("has no place for a signature: link it with one")
	}
	start := int(binary.LittleEndian.Uint32(data[place+8:]))
	if start > len(data) || start%16 != 0 || uint64(start) < edit.Offset || start < at {
		return nil, errors.New("has its signature in an odd place")
	}
	pages := (start + 1<<pageBits - 1) >> pageBits
	directory := directorySize + len(seal.Identifier) + 1 + (machofile.ResourcesSlot+pages)*sha256.Size
	size := 12 + 2*8 + directory + 12

	// The file is hashed as it will be.
	data = append(data[:start:start], make([]byte, size)...)
	binary.LittleEndian.PutUint32(data[place+12:], uint32(size))
	held := uint64(len(data)) - edit.Offset
	binary.LittleEndian.PutUint64(data[link+48:], held)
	binary.LittleEndian.PutUint64(data[link+32:], (held+1<<14-1)&^(1<<14-1))

	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.BigEndian, v) // a buffer takes everything
		}
	}
	hash := func(content []byte) []byte { // zeros for what is not there
		if content == nil {
			return make([]byte, sha256.Size)
		}
		sum := sha256.Sum256(content)
		return sum[:]
	}
	isProgram := uint64(0)
	if file.Type == macho.TypeExec {
		isProgram = 1
	}
	requirements := []byte{0xfa, 0xde, 0x0c, 0x01, 0, 0, 0, 12, 0, 0, 0, 0}
	// The magic of a signature, its size and two parts: the directory, and the requirements.
	put(uint32(0xfade0cc0), uint32(size), uint32(2), uint32(0), uint32(28), uint32(2), uint32(28+directory))
	// The directory: version 2.4, ad hoc, SHA-256.
	put(uint32(0xfade0c02), uint32(directory), uint32(0x20400), uint32(2), uint32(directory-pages*sha256.Size),
		uint32(directorySize), uint32(machofile.ResourcesSlot), uint32(pages), uint32(start))
	put(uint8(sha256.Size), uint8(2), uint8(0), uint8(pageBits), uint32(0), uint32(0), uint32(0), uint32(0), uint64(0))
	put(text.Offset, text.Filesz, isProgram)
	put([]byte(seal.Identifier), uint8(0))
	put(hash(seal.Resources), hash(requirements), hash(seal.Info))
	for page := range pages {
		put(hash(data[page<<pageBits : min((page+1)<<pageBits, start)]))
	}
	put(requirements)
	if b.Len() != size {
		return nil, fmt.Errorf("a signature of %d bytes where %d were expected", b.Len(), size)
	}
	copy(data[start:], b.Bytes())
	return data, nil
}
