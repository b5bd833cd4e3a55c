package bundletest

import (
	"bytes"
	"encoding/binary"
	"runtime/debug"
	"strings"
)

// Image describes a program, or a library where it has a name.
type Image struct {
	// Name is a library's install name.
	Name string
	// Libraries are loaded with it; Weak ones after them.
	Libraries, Weak []string
	// RunPaths are where @rpath is looked for.
	RunPaths []string
	// System is the major number of the oldest macOS; 0: 26.
	System uint32
	// GoFlag is the flag that Go's information about the build has; empty: there is
	// no such information.
	GoFlag string
	// Text is what it holds, to tell it from others.
	Text string
	// Size is the size of what is signed but for the last 64 bytes, at least 2 KiB
	// and a multiple of 16; 0: four pages.
	Size int
}

const (
	headerSize = 32
	linkSize   = 64
	placeSize  = 64
	fourPages  = 4 * 4096
)

// Bytes is the file. It has a place for a signature, and none in it.
func (i Image) Bytes() []byte {
	textSize := i.Size
	if textSize == 0 {
		textSize = fourPages
	}
	var commands [][]byte
	segment := func(name string, at, size int) {
		c := make([]byte, 72)
		copy(c[8:], name)
		for n, v := range []int{at, size, at, size} {
			binary.LittleEndian.PutUint64(c[24+8*n:], uint64(v))
		}
		commands = append(commands, started(0x19, c))
	}
	segment("__TEXT", 0, textSize)
	if i.GoFlag != "" {
		segment("__DATA", textSize/4*3, textSize/4)
		commands[1] = withSection(commands[1], "__go_buildinfo", textSize/4*3, textSize/4) // where Go looks
	}
	segment("__LINKEDIT", textSize, linkSize+placeSize)
	if i.Name != "" {
		commands = append(commands, dylib(0xd, i.Name))
	}
	for _, name := range i.Libraries {
		commands = append(commands, dylib(0xc, name))
	}
	for _, name := range i.Weak {
		commands = append(commands, dylib(0x80000018, name))
	}
	for _, path := range i.RunPaths {
		commands = append(commands, started(0x8000001c, append(words(0, 0, 12), ended(path)...)))
	}
	system := i.System
	if system == 0 {
		system = 26
	}
	commands = append(commands, words(0x32, 24, 1, system<<16, system<<16, 0), words(0x1d, 16, uint32(textSize+linkSize), placeSize))
	all := bytes.Join(commands, nil)
	kind := uint32(2)
	if i.Name != "" {
		kind = 6
	}
	file := make([]byte, textSize+linkSize+placeSize)
	copy(file, words(0xfeedfacf, 0x0100000c, 0, kind, uint32(len(commands)), uint32(len(all)), 0, 0))
	copy(file[headerSize:], all)
	copy(file[textSize/2:], i.Text)
	if i.GoFlag != "" {
		copy(file[textSize/4*3:], BuildInfo(i.GoFlag))
	}
	return file
}

// BuildInfo is what Go puts into a program that is built with a flag, for package
// debug/buildinfo.
func BuildInfo(flag string) []byte {
	key, value, _ := strings.Cut(flag, "=")
	about := debug.BuildInfo{Path: "small", Settings: []debug.BuildSetting{{Key: key, Value: value}}}
	const frame = "a frame of 16 B."
	out := make([]byte, 32)
	copy(out, "\xff Go buildinf:\x08\x02")
	for _, text := range []string{"go1.26", frame + about.String() + frame} {
		out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
	}
	return out
}

// withSection adds the one section that a segment has.
func withSection(segment []byte, name string, at, size int) []byte {
	binary.LittleEndian.PutUint32(segment[64:], 1)
	section := make([]byte, 80)
	copy(section, name)
	copy(section[16:32], segment[8:24]) // the segment's name
	binary.LittleEndian.PutUint64(section[32:], uint64(at))
	binary.LittleEndian.PutUint64(section[40:], uint64(size))
	binary.LittleEndian.PutUint32(section[48:], uint32(at))
	return started(binary.LittleEndian.Uint32(segment), append(segment, section...))
}

// dylib is a command that names a library, with versions of no importance.
func dylib(number uint32, name string) []byte {
	return started(number, append(words(0, 0, 24, 0, 0, 0), ended(name)...))
}

// started puts number and size into a command.
func started(number uint32, c []byte) []byte {
	copy(c, words(number, uint32(len(c))))
	return c
}

// ended is a text with at least one zero, of a length that can be divided by 8.
func ended(text string) []byte {
	return append([]byte(text), make([]byte, 8-(len(text)+12)%8+8)...)
}

func words(values ...uint32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}
