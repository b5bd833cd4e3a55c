package machofile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Numbers of <mach-o/loader.h>.
const (
	magic64      = 0xfeedfacf
	cpuARM64     = 0x0100000c
	typeProgram  = 2
	typeLibrary  = 6
	headerSize   = 32
	loadSegment  = 0x19
	loadLibrary  = 0xc
	libraryName  = 0xd
	loadWeak     = 0x80000018
	loadReexport = 0x8000001f
	runPath      = 0x8000001c
	signature    = 0x1d
	buildVersion = 0x32
	macOS        = 1
)

// Library is one that is loaded with a file.
type Library struct {
	// Name is its install name: a path of the system, or one that begins with @rpath.
	Name string
	// Weak says that the file runs without it too.
	Weak bool
}

// File is a program or a library.
type File struct {
	// Program says that it is started, not loaded.
	Program bool
	// Name is a library's own install name.
	Name string
	// Libraries are what is loaded with it, in order.
	Libraries []Library
	// RunPaths are the folders in which @rpath is looked for, in order.
	RunPaths []string
	// MinimumSystem is the oldest macOS that it is for, such as 26.0.
	MinimumSystem string

	data     []byte
	commands []command
}

// command is a load command: its number and its bytes.
type command struct {
	number uint32
	at     int // in the file
	size   int
}

// Parse reads a file's load commands. The file keeps the data and changes it in
// place.
func Parse(data []byte) (*File, error) {
	f := &File{data: data}
	if len(data) < headerSize || f.word(0) != magic64 || f.word(4) != cpuARM64 {
		return nil, errors.New("no Mach-O file for arm64")
	}
	if kind := f.word(12); kind != typeProgram && kind != typeLibrary {
		return nil, fmt.Errorf("a Mach-O file of the kind %d, neither a program nor a library", kind)
	}
	f.Program = f.word(12) == typeProgram
	return f, f.read()
}

// read goes through the load commands.
func (f *File) read() error {
	f.Name, f.Libraries, f.RunPaths, f.MinimumSystem, f.commands = "", nil, nil, "", nil
	count, end := f.word(16), headerSize+int(f.word(20))
	if end > len(f.data) {
		return errors.New("the load commands go on after the end of the file")
	}
	at := headerSize
	for n := range count {
		if at+8 > end {
			return fmt.Errorf("load command %d lies outside", n)
		}
		c := command{f.word(at), at, int(f.word(at + 4))}
		if c.size < 8 || c.size > end-at {
			return fmt.Errorf("load command %d has %d bytes", n, c.size)
		}
		if err := f.take(c); err != nil {
			return fmt.Errorf("load command %d: %w", n, err)
		}
		f.commands = append(f.commands, c)
		at += c.size
	}
	return nil
}

// take remembers what a load command says.
func (f *File) take(c command) error {
	switch c.number {
	case loadLibrary, loadWeak, loadReexport, libraryName, runPath:
		text, err := f.text(c)
		if err != nil {
			return err
		}
		switch c.number {
		case runPath:
			f.RunPaths = append(f.RunPaths, text)
		case libraryName:
			f.Name = text
		default:
			f.Libraries = append(f.Libraries, Library{text, c.number == loadWeak})
		}
	case buildVersion:
		if c.size < 16 {
			return errors.New("is too short")
		}
		if platform := f.word(c.at + 8); platform != macOS {
			return fmt.Errorf("is for platform %d, and macOS is %d", platform, macOS)
		}
		version := f.word(c.at + 12)
		f.MinimumSystem = fmt.Sprintf("%d.%d", version>>16, version>>8&0xff)
	}
	return nil
}

// text is the string of a load command, whose place in it is its third word.
func (f *File) text(c command) (string, error) {
	if c.size < 12 {
		return "", errors.New("is too short")
	}
	from := int(f.word(c.at + 8))
	if from < 12 || from > c.size {
		return "", errors.New("has its text elsewhere")
	}
	text, _, _ := bytes.Cut(f.data[c.at+from:c.at+c.size], []byte{0})
	return string(text), nil
}

// Bytes is the file as it is now.
func (f *File) Bytes() []byte { return f.data }

// KeepRunPaths takes out the run paths that keep refuses, and says which. A
// signature that was there does not hold any more.
func (f *File) KeepRunPaths(keep func(path string) bool) (dropped []string, err error) {
	var kept []byte
	count := uint32(0)
	for _, c := range f.commands {
		if c.number == runPath {
			if path, _ := f.text(c); !keep(path) {
				dropped = append(dropped, path)
				continue
			}
		}
		kept = append(kept, f.data[c.at:c.at+c.size]...)
		count++
	}
	area := f.data[headerSize : headerSize+int(f.word(20))]
	clear(area[copy(area, kept):])
	f.setWord(16, count)
	f.setWord(20, uint32(len(kept)))
	return dropped, f.read()
}

// find gives the only load command of a number.
func (f *File) find(number uint32) (command, bool) {
	n := slices.IndexFunc(f.commands, func(c command) bool { return c.number == number })
	if n < 0 {
		return command{}, false
	}
	return f.commands[n], true
}

// segment gives the load command of a segment, whose fields are all there.
func (f *File) segment(name string) (command, bool) {
	for _, c := range f.commands {
		if c.number == loadSegment && c.size >= 72 {
			if have, _, _ := bytes.Cut(f.data[c.at+8:c.at+24], []byte{0}); string(have) == name {
				return c, true
			}
		}
	}
	return command{}, false
}

func (f *File) word(at int) uint32           { return binary.LittleEndian.Uint32(f.data[at:]) }
func (f *File) long(at int) uint64           { return binary.LittleEndian.Uint64(f.data[at:]) }
func (f *File) setWord(at int, value uint32) { binary.LittleEndian.PutUint32(f.data[at:], value) }
func (f *File) setLong(at int, value uint64) { binary.LittleEndian.PutUint64(f.data[at:], value) }
