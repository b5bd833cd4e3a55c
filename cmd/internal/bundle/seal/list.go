package seal

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/cmd/internal/bundle/machofile"
	"fulmen/native/plist"
)

// Files of a bundle, below its Contents, that a signature treats in ways of their own.
const (
	infoFile = "Info.plist"
	listFile = "_CodeSignature/CodeResources"
	// Stapled is the word of Apple's notary, which comes in after the signature.
	Stapled  = "CodeResources"
	programs = "MacOS/"
)

// List is the list of the files of a bundle, whose programs are signed, but for
// the one that it is started by.
func List(bundle string) ([]byte, error) {
	files, err := files(bundle)
	if err != nil {
		return nil, err
	}
	old, entries := map[string]any{}, map[string]any{}
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(bundle, "Contents", name))
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, programs) {
			if entries[name], err = program(content); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		sum := sha256.Sum256(content)
		entries[name] = map[string]any{"hash2": sum[:]}
		if strings.HasPrefix(name, "Resources/") { // what systems before 10.9.5 look at
			sum := sha1.Sum(content)
			old[name] = sum[:]
		}
	}
	return plist.Write(map[string]any{"files": old, "files2": entries, "rules": oldRules(), "rules2": rules()})
}

// program is how a bundle names a program in it: by its signature.
func program(content []byte) (map[string]any, error) {
	file, err := machofile.Parse(content)
	if err != nil {
		return nil, err
	}
	signature, err := file.Signature()
	if err != nil {
		return nil, err
	}
	return map[string]any{"cdhash": signature.Hash, "requirement": fmt.Sprintf(`cdhash H"%x"`, signature.Hash)}, nil
}

// files are the paths of a bundle's files that belong to the list, in order.
func files(bundle string) ([]string, error) {
	contents := filepath.Join(bundle, "Contents")
	main, err := executable(bundle)
	if err != nil {
		return nil, err
	}
	var names []string
	err = fs.WalkDir(os.DirFS(contents), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is no plain file", name)
		}
		if !slices.Contains([]string{infoFile, listFile, Stapled, "PkgInfo", programs + main}, name) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// executable is the program that the bundle is started by.
func executable(bundle string) (string, error) {
	text, err := os.ReadFile(filepath.Join(bundle, "Contents", infoFile))
	if err != nil {
		return "", err
	}
	info, err := plist.Parse(text)
	if err != nil {
		return "", err
	}
	dict, _ := info.(map[string]any)
	name, _ := dict["CFBundleExecutable"].(string)
	if name == "" || path.Base(name) != name {
		return "", errors.New("no CFBundleExecutable in Info.plist")
	}
	return name, nil
}

// Check holds a bundle against its list and against the signature of the program
// that it is started by. It says everything that differs.
func Check(bundle string) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	list, err := os.ReadFile(filepath.Join(bundle, "Contents", listFile))
	if err != nil {
		return []string{"the bundle is not signed: " + err.Error()}
	}
	parsed, err := plist.Parse(list)
	if err != nil {
		return []string{listFile + ": " + err.Error()}
	}
	dict, _ := parsed.(map[string]any)
	entries, _ := dict["files2"].(map[string]any)
	names, err := files(bundle)
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range names {
		entry, _ := entries[name].(map[string]any)
		if entry == nil {
			fault("%s came into the bundle after it was signed", name)
			continue
		}
		content, err := os.ReadFile(filepath.Join(bundle, "Contents", name))
		if err != nil {
			fault("%v", err)
		} else if why := differs(name, content, entry); why != "" {
			fault("%s %s", name, why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if !slices.Contains(names, name) {
			fault("%s was taken out of the bundle after it was signed", name)
		}
	}
	return append(faults, checkMain(bundle, list)...)
}

// differs says why a file is not the one of its entry.
func differs(name string, content []byte, entry map[string]any) string {
	if !strings.HasPrefix(name, programs) {
		sum := sha256.Sum256(content)
		if want, _ := entry["hash2"].([]byte); !bytes.Equal(want, sum[:]) {
			return "was changed after the bundle was signed"
		}
		return ""
	}
	have, err := program(content)
	if err != nil {
		return err.Error()
	}
	if want, _ := entry["cdhash"].([]byte); !bytes.Equal(want, have["cdhash"].([]byte)) {
		return "was signed anew after the bundle was signed"
	}
	return ""
}

// checkMain looks at the program that the bundle is started by.
func checkMain(bundle string, list []byte) []string {
	main, err := executable(bundle)
	if err != nil {
		return []string{err.Error()}
	}
	name := filepath.Join(bundle, "Contents", programs, main)
	content, err := os.ReadFile(name)
	if err != nil {
		return []string{err.Error()}
	}
	file, err := machofile.Parse(content)
	if err != nil {
		return []string{main + ": " + err.Error()}
	}
	signature, err := file.Signature()
	if err != nil {
		return []string{main + " " + err.Error()}
	}
	var faults []string
	info, err := os.ReadFile(filepath.Join(bundle, "Contents", infoFile))
	if err != nil {
		return []string{err.Error()}
	}
	if !signature.Sealed(machofile.InfoSlot, info) {
		faults = append(faults, "Info.plist was changed after the bundle was signed")
	}
	if !signature.Sealed(machofile.ResourcesSlot, list) {
		faults = append(faults, "the list of files was changed after the bundle was signed")
	}
	return faults
}

// rules say what codesign takes into the list; where several match, the one of
// the greatest weight counts, which is 1 where it says none.
func rules() map[string]any {
	return map[string]any{
		"^.*":                true,
		`^Info\.plist$`:      map[string]any{"omit": true, "weight": 20.0},
		"^PkgInfo$":          map[string]any{"omit": true, "weight": 20.0},
		"^[^/]+$":            map[string]any{"nested": true, "weight": 10.0},
		"^Resources/":        map[string]any{"weight": 20.0},
		`^version\.plist$`:   map[string]any{"weight": 20.0},
		`^(.*/)?\.DS_Store$`: map[string]any{"omit": true, "weight": 2000.0},
		"^(Frameworks|SharedFrameworks|PlugIns|Plug-ins|XPCServices|Helpers|MacOS|Library/(Automator|Spotlight|LoginItems))/": map[string]any{"nested": true, "weight": 10.0},
	}
}

// oldRules are those for systems before 10.9.5.
func oldRules() map[string]any {
	return map[string]any{"^Resources/": true, `^version\.plist$`: true}
}
