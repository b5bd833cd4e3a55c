package look

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxMetadata = 64 << 10
	maxEntries  = 20_000
)

// distVersions finds the versions of packages by the metadata that installers
// leave (NAME-VERSION.dist-info/METADATA, or .egg-info/PKG-INFO), without
// importing anything. Of several folders the first one with the package counts,
// as it does for Python.
func distVersions(folders, packages []string) map[string]string {
	wanted := map[string]string{}
	for _, p := range packages {
		wanted[normal(p)] = p
	}
	found := map[string]string{}
	for _, folder := range folders {
		here := map[string]string{}
		for _, entry := range names(folder) {
			name, version, ok := distName(entry)
			asked := wanted[name]
			if !ok || asked == "" || found[asked] != "" {
				continue
			}
			if exact := metadataVersion(filepath.Join(folder, entry)); exact != "" {
				version = exact
			}
			// An update that was cut short leaves two; the later one is what runs.
			if version > here[asked] {
				here[asked] = version
			}
		}
		for asked, version := range here {
			found[asked] = version
		}
	}
	return found
}

func names(folder string) []string {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.Readdirnames(maxEntries)
	return all
}

// distName takes the name of a metadata folder apart. The name ends at the
// first hyphen: those of the package's name are underscores there.
func distName(entry string) (name, version string, ok bool) {
	base, isDist := strings.CutSuffix(entry, ".dist-info")
	if !isDist {
		if base, ok = strings.CutSuffix(entry, ".egg-info"); !ok {
			return "", "", false
		}
		// "numpy-1.0-py3.11.egg-info"
		base, _, _ = strings.Cut(base, "-py")
	}
	name, version, _ = strings.Cut(base, "-")
	return normal(name), version, name != ""
}

// normal is a package's name as packages are compared: lower case, one
// underscore for each run of hyphens, dots and underscores.
func normal(name string) string {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	return strings.Join(parts, "_")
}

// metadataVersion reads the header Version of a package's metadata; "" where there is none.
func metadataVersion(path string) string {
	f, err := os.Open(filepath.Join(path, "METADATA"))
	if err != nil {
		if f, err = os.Open(filepath.Join(path, "PKG-INFO")); err != nil {
			return ""
		}
	}
	defer f.Close()
	return headerVersion(f)
}

// headerVersion reads headers up to the empty line.
func headerVersion(from io.Reader) string {
	lines := bufio.NewScanner(io.LimitReader(from, maxMetadata))
	lines.Buffer(nil, maxMetadata)
	for lines.Scan() && strings.TrimSpace(lines.Text()) != "" {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.EqualFold(key, "Version") {
			return Line(value, 64)
		}
	}
	return ""
}
