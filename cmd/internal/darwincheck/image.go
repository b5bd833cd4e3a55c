package darwincheck

import (
	"debug/macho"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Load commands that debug/macho has no type for; the numbers are Apple's, from
// <mach-o/loader.h>.
const (
	loadWeakDylib     = 0x80000018
	loadReexportDylib = 0x8000001f
	loadCodeSignature = 0x1d
	loadDyldInfo      = 0x80000022
	loadBuildVersion  = 0x32
)

// platformMacOS is macOS in a LC_BUILD_VERSION command.
const platformMacOS = 1

// Image is what a Mach-O program says of itself to whoever starts it.
type Image struct {
	// Libraries are the install names of what is loaded with it, in order; a name
	// stands here as often as there.
	Libraries []string
	// RunPaths are the folders in which @rpath is looked for, in order.
	RunPaths []string
	// MinimumSystem is the oldest macOS that it starts on, such as 26.0.
	MinimumSystem string
	// Signed says that there is a code signature, without which no arm64 Mac
	// starts anything. Whether it is a good one is not looked at.
	Signed bool
	// Imports are the symbols that are taken from each library, by its install
	// name: without the underscore before them, in order, each once.
	Imports map[string][]string
}

// ReadImage reads the load commands of an arm64 program, and what it binds to
// which library.
func ReadImage(path string) (Image, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Image{}, err
	}
	file, err := macho.Open(path)
	if err != nil {
		return Image{}, fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	if file.Cpu != macho.CpuArm64 || file.Type != macho.TypeExec {
		return Image{}, fmt.Errorf("%s is %v for %v, not a program for arm64", path, file.Type, file.Cpu)
	}
	var image Image
	var info []byte
	for _, load := range file.Loads {
		switch l := load.(type) {
		case *macho.Dylib:
			image.Libraries = append(image.Libraries, l.Name)
		case *macho.Rpath:
			image.RunPaths = append(image.RunPaths, l.Path)
		default:
			raw := load.Raw()
			word := func(i int) uint32 { return file.ByteOrder.Uint32(raw[4*i:]) }
			switch word(0) {
			case loadWeakDylib, loadReexportDylib:
				return Image{}, fmt.Errorf("%s: load command %#x: this check counts the places of libraries and knows no such", path, word(0))
			case loadCodeSignature:
				image.Signed = true
			case loadDyldInfo:
				info = raw
			case loadBuildVersion:
				if word(2) != platformMacOS {
					return Image{}, fmt.Errorf("%s is for platform %d, and macOS is %d", path, word(2), platformMacOS)
				}
				image.MinimumSystem = fmt.Sprintf("%d.%d", word(3)>>16, word(3)>>8&0xff)
			}
		}
	}
	if info == nil {
		return Image{}, fmt.Errorf("%s has no LC_DYLD_INFO_ONLY, which says what it takes from where", path)
	}
	if err := image.bind(text, info, file.ByteOrder.Uint32); err != nil {
		return Image{}, fmt.Errorf("%s: %w", path, err)
	}
	return image, nil
}

// bind reads what is bound at once and what when it is first called. The third
// list, of symbols that any library may give anew, names no library.
func (i *Image) bind(text, info []byte, word func([]byte) uint32) error {
	i.Imports = map[string][]string{}
	var strange error
	for _, at := range []int{16, 32} {
		from, size := int(word(info[at:])), int(word(info[at+4:]))
		if from < 0 || size < 0 || from+size > len(text) {
			return errors.New("the list of what is bound lies outside of the file")
		}
		err := bindings(text[from:from+size], func(place int, name string) {
			if place < 1 || place > len(i.Libraries) {
				strange = fmt.Errorf("%s is from library %d, and there are %d", name, place, len(i.Libraries))
				return
			}
			library := i.Libraries[place-1]
			i.Imports[library] = append(i.Imports[library], strings.TrimPrefix(name, "_"))
		})
		if err := errors.Join(err, strange); err != nil {
			return err
		}
	}
	for library, names := range i.Imports {
		slices.Sort(names)
		i.Imports[library] = slices.Compact(names)
	}
	return nil
}
