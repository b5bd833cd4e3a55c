package inspect

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/cmd/internal/bundle/machofile"
	"fulmen/daemon/api"
)

// Files of a bundle, below its Contents, that a signature treats in ways of their own.
const (
	infoFile = "Info.plist"
	// ListFile is the list of a bundle's files that its signature vouches for.
	ListFile = "_CodeSignature/CodeResources"
	// stapled is the word of Apple's notary, which comes in after the signature.
	stapled     = "CodeResources"
	mainProgram = programFolder + api.BundleExecutable
	// programFolder has the programs, which have signatures of their own.
	programFolder = "MacOS/"
)

// ListKey is under what the list has the hash of a file. This is Apple's rule, from the
// documentation of bundles and of codesign: programs by what their own signature
// hashes to, everything else by its content.
func ListKey(name string) string {
	if strings.HasPrefix(name, programFolder) {
		return "cdhash"
	}
	return "hash2"
}

// Hashes gives what the list of a bundle's files has of each, by its path below
// Contents, and what is wrong with files that cannot be in it. Info.plist and the
// program that the bundle is started by are vouched for in that program's signature.
func Hashes(bundle string) (hashes map[string][]byte, faults []string) {
	hashes = map[string][]byte{}
	contents := filepath.Join(bundle, "Contents")
	err := fs.WalkDir(os.DirFS(contents), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", name)
		}
		if slices.Contains([]string{infoFile, ListFile, stapled, "PkgInfo", mainProgram}, name) {
			return nil
		}
		if hashes[name], err = hashOf(name, filepath.Join(contents, name)); err != nil {
			faults = append(faults, name+" "+err.Error())
		}
		return nil
	})
	if err != nil {
		faults = append(faults, err.Error())
	}
	return hashes, faults
}

func hashOf(name, path string) ([]byte, error) {
	if ListKey(name) == "cdhash" {
		signature, err := signatureOf(path)
		if err != nil {
			return nil, err
		}
		return signature.Hash, nil
	}
	content, err := os.ReadFile(path)
	sum := sha256.Sum256(content)
	return sum[:], err
}

// unsealed holds a bundle against its list and against the signature of the program
// that it is started by. It says everything that differs.
func unsealed(bundle string) []string {
	list, err := os.ReadFile(filepath.Join(bundle, "Contents", ListFile))
	if err != nil {
		return []string{"the bundle is not signed: " + err.Error()}
	}
	parsed, fault := dict(list)
	if parsed == nil {
		return []string{ListFile + ": " + fault[0]}
	}
	entries, _ := parsed["files2"].(map[string]any)
	hashes, faults := Hashes(bundle)
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		entry, _ := entries[name].(map[string]any)
		want, _ := entry[ListKey(name)].([]byte)
		switch {
		case entry == nil:
			faults = append(faults, name+" came into the bundle after it was signed")
		case hashes[name] == nil || bytes.Equal(want, hashes[name]): // what has none was said
		case ListKey(name) == "cdhash":
			faults = append(faults, name+" was signed again after the bundle was signed")
		default:
			faults = append(faults, name+" was changed after the bundle was signed")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if _, there := hashes[name]; !there {
			faults = append(faults, name+" was taken out of the bundle after it was signed")
		}
	}
	signature, err := signatureOf(filepath.Join(bundle, "Contents", mainProgram))
	if err != nil {
		return append(faults, api.BundleExecutable+" "+err.Error())
	}
	info, err := os.ReadFile(filepath.Join(bundle, "Contents", infoFile))
	if err != nil {
		return append(faults, err.Error())
	}
	if !signature.Sealed(machofile.InfoSlot, info) {
		faults = append(faults, "Info.plist was changed after the bundle was signed")
	}
	if !signature.Sealed(machofile.ResourcesSlot, list) {
		faults = append(faults, "the list of files was changed after the bundle was signed")
	}
	return faults
}
