package inspect

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/machofile"
	"fulmen/daemon/api"
)

// Faults lists what is wrong with a bundle; a good one has none.
func Faults(bundle string) []string {
	all := files(bundle)
	all = append(all, property(bundle, "Info.plist", Info)...)
	all = append(all, property(bundle, layout.LaunchdJob, func(text []byte) []string { return Job(text, "BundleProgram", "Contents/MacOS/fulmend") })...)
	all = append(all, property(bundle, "Resources/"+layout.Icon+".icns", icon)...)
	all = append(all, programs(bundle)...)
	return append(all, signatures(bundle)...)
}

// property looks at one file of the bundle.
func property(bundle, path string, look func([]byte) []string) []string {
	text, err := os.ReadFile(filepath.Join(bundle, "Contents", path))
	if err != nil {
		return []string{err.Error()}
	}
	var all []string
	for _, fault := range look(text) {
		all = append(all, path+": "+fault)
	}
	return all
}

// files compares what lies in the bundle with what belongs there.
func files(bundle string) []string {
	want := map[string]os.FileMode{ListFile: 0o644}
	for _, part := range layout.Parts(layout.Sources{}) {
		want[part.Path] = part.Mode
	}
	var faults []string
	err := fs.WalkDir(os.DirFS(filepath.Join(bundle, "Contents")), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		mode, known := want[name]
		delete(want, name)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case name == stapled:
		case !known:
			faults = append(faults, name+" does not belong there")
		case !info.Mode().IsRegular() || info.Mode().Perm() != mode:
			faults = append(faults, fmt.Sprintf("%s has the mode %v, not %v", name, info.Mode(), mode))
		case info.Size() == 0:
			faults = append(faults, name+" is empty")
		}
		return nil
	})
	if err != nil {
		return []string{err.Error()}
	}
	for name := range want {
		faults = append(faults, name+" is missing")
	}
	slices.Sort(faults)
	return faults
}

func icon(file []byte) []string {
	kinds, err := layout.IconKinds(file)
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for _, side := range layout.IconSides() {
		found := false
		for _, have := range kinds {
			found = found || have == side
		}
		if !found {
			faults = append(faults, fmt.Sprintf("has no picture of %d pixels", side))
		}
	}
	return faults
}

// signatures holds every file against its signature, and its signature against
// what is known of it: identifiers, one team for all, the hardened runtime.
func signatures(bundle string) []string {
	faults := unsealed(bundle)
	teams := map[string]bool{}
	for _, want := range layout.Signatures() {
		path := want.Path
		if path == "" {
			path = "MacOS/" + api.BundleExecutable
		}
		have, err := signatureOf(filepath.Join(bundle, "Contents", path))
		if err != nil {
			faults = append(faults, path+" "+err.Error())
			continue
		}
		teams[have.Team] = true
		if have.Identifier != want.Identifier {
			faults = append(faults, fmt.Sprintf("%s is signed as %s, not as %s", path, have.Identifier, want.Identifier))
		}
		if have.Team != "" && !have.Runtime {
			faults = append(faults, path+" is signed without the hardened runtime, with which alone it can be notarized")
		}
	}
	if len(teams) > 1 {
		faults = append(faults, "the files are signed by more than one team")
	}
	return faults
}

func signatureOf(path string) (*machofile.Signature, error) {
	file, err := read(path)
	if err != nil {
		return nil, err
	}
	return file.Signature()
}

func read(path string) (*machofile.File, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return machofile.Parse(content)
}
