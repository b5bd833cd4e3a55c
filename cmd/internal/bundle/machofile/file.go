package machofile

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
)

// Load commands that debug/macho has no type for; the numbers are Apple's, from
// <mach-o/loader.h>.
const (
	libraryName  = 0xd
	loadWeak     = 0x80000018
	loadReexport = 0x8000001f
	signature    = 0x1d
	buildVersion = 0x32
)

const (
	headerSize = 32
	macOS      = 1 // in a command of the version that a file is built for
)

// File is a program or a library.
type File struct {
	// Program says that it is started, not loaded.
	Program bool
	// Name is a library's own install name.
	Name string
	// Libraries are the install names of what is loaded with it, in order: paths of
	// the system, or such as begin with @rpath.
	Libraries []string
	// RunPaths are the folders in which @rpath is looked for, in order.
	RunPaths []string
	// MinimumSystem is the oldest macOS that it is for, such as 26.0.
	MinimumSystem string

	data  []byte
	loads []macho.Load
}

// Parse reads a file's load commands. The file keeps the data and changes it in
// place.
func Parse(data []byte) (*File, error) {
	m, err := macho.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if m.Magic != macho.Magic64 || m.Cpu != macho.CpuArm64 || m.ByteOrder != binary.LittleEndian {
		return nil, errors.New("it is not a Mach-O file for arm64")
	}
	if m.Type != macho.TypeExec && m.Type != macho.TypeDylib {
		return nil, fmt.Errorf("a Mach-O file of the kind %v is neither a program nor a library", m.Type)
	}
	f := &File{Program: m.Type == macho.TypeExec, data: data, loads: m.Loads}
	for n, load := range m.Loads {
		if err := f.take(load); err != nil {
			return nil, fmt.Errorf("load command %d: %w", n, err)
		}
	}
	return f, nil
}

// take remembers what a load command says.
func (f *File) take(load macho.Load) error {
	switch l := load.(type) {
	case *macho.Dylib:
		f.Libraries = append(f.Libraries, l.Name)
		return nil
	case *macho.Rpath:
		f.RunPaths = append(f.RunPaths, l.Path)
		return nil
	}
	switch raw := load.Raw(); word(raw, 0) {
	case libraryName, loadWeak, loadReexport:
		if len(raw) < 12 || word(raw, 2) < 12 || int(word(raw, 2)) > len(raw) {
			return errors.New("has its text outside of the command")
		}
		text := ended(raw[word(raw, 2):])
		if word(raw, 0) == libraryName {
			f.Name = text
		} else {
			f.Libraries = append(f.Libraries, text)
		}
	case buildVersion:
		if len(raw) < 16 {
			return errors.New("is too short")
		}
		if platform := word(raw, 2); platform != macOS {
			return fmt.Errorf("is for platform %d, but macOS is %d", platform, macOS)
		}
		f.MinimumSystem = fmt.Sprintf("%d.%d", word(raw, 3)>>16, word(raw, 3)>>8&0xff)
	}
	return nil
}

// Bytes is the file as it is now.
func (f *File) Bytes() []byte { return f.data }

// KeepRunPaths takes out the run paths that keep refuses, and says which. A
// signature that was there does not hold any more.
func (f *File) KeepRunPaths(keep func(path string) bool) (dropped []string, err error) {
	var kept []byte
	for _, load := range f.loads {
		if l, ok := load.(*macho.Rpath); ok && !keep(l.Path) {
			dropped = append(dropped, l.Path)
			continue
		}
		kept = append(kept, load.Raw()...)
	}
	area := f.data[headerSize : headerSize+int(word(f.data, 5))]
	clear(area[copy(area, kept):])
	binary.LittleEndian.PutUint32(f.data[16:], uint32(len(f.loads)-len(dropped)))
	binary.LittleEndian.PutUint32(f.data[20:], uint32(len(kept)))
	changed, err := Parse(f.data)
	if err == nil {
		*f = *changed
	}
	return dropped, err
}

// word gives one of the words of a header or a load command.
func word(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[4*at:]) }
