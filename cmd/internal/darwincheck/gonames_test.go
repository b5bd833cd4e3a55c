package main

import (
	"os"
	"path"
	"regexp"
	"strings"
)

// importDynamic matches the lines by which Go's standard library names what it
// takes from a library itself, without C.
var importDynamic = regexp.MustCompile(`(?m)^//go:cgo_import_dynamic \S+ (\w+) "(/[^"]+)"`)

// libSystem is the library that zig brings a list for: the C library, Mach, dispatch.
const libSystem = "/usr/lib/libSystem.B.dylib"

// goLibraries gives what the standard library takes from other libraries than
// libSystem. It is read from the Go that compiles, since it differs by version.
func goLibraries(packages []*goPackage) ([]Library, error) {
	// runtime/cgo links this framework, with or without a name from it.
	all := []Library{{Name: "CoreFoundation", Path: framework("CoreFoundation")}}
	for _, p := range packages {
		if !p.Standard {
			continue
		}
		for _, file := range p.files(p.GoFiles) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, m := range importDynamic.FindAllStringSubmatch(string(text), -1) {
				if m[2] != libSystem {
					name, _, _ := strings.Cut(path.Base(m[2]), ".")
					all = append(all, Library{Name: name, Path: m[2], Names: []string{m[1]}})
				}
			}
		}
	}
	return merge(all), nil
}

// framework gives the install name of one of Apple's frameworks in C.
func framework(name string) string {
	return "/System/Library/Frameworks/" + name + ".framework/Versions/A/" + name
}
