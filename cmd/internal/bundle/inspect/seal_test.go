package inspect_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bundle/bundletest"
	"fulmen/cmd/internal/bundle/inspect"
)

func TestWhatIsChangedAfterSigningIsFound(t *testing.T) {
	contents := func(bundle, name string) string { return filepath.Join(bundle, "Contents", name) }
	for name, test := range map[string]struct {
		spoil   func(bundle string) error
		reports string
	}{
		"nothing":          {func(string) error { return nil }, ""},
		"a library":        {func(b string) error { return appendTo(contents(b, "Resources/mlx/libmlx.dylib")) }, "Resources/mlx/libmlx.dylib was changed"},
		"the job":          {func(b string) error { return appendTo(contents(b, "Library/LaunchDaemons/org.fulmen.daemon.plist")) }, "org.fulmen.daemon.plist was changed"},
		"Info.plist":       {func(b string) error { return appendTo(contents(b, "Info.plist")) }, "Info.plist was changed"},
		"the list":         {func(b string) error { return appendTo(contents(b, "_CodeSignature/CodeResources")) }, "the list of files was changed"},
		"a program":        {func(b string) error { return flip(contents(b, "MacOS/fulmend")) }, "MacOS/fulmend was changed"},
		"the main program": {func(b string) error { return flip(contents(b, "MacOS/fulmen-app")) }, "fulmen-app was changed"},
		"a new file":       {func(b string) error { return os.WriteFile(contents(b, "Resources/more"), []byte("x"), 0o644) }, "Resources/more came into the bundle"},
		"a lost file":      {func(b string) error { return os.Remove(contents(b, "Resources/Licences.txt")) }, "Resources/Licences.txt was taken out"},
		"no list":          {func(b string) error { return os.Remove(contents(b, "_CodeSignature/CodeResources")) }, "not signed"},
		"another program":  {func(b string) error { return os.Rename(contents(b, "MacOS/fulmen"), contents(b, "MacOS/fulmend")) }, "MacOS/fulmend was signed again"},
		"a link":           {func(b string) error { return os.Symlink("/etc/passwd", contents(b, "Resources/link")) }, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			bundle := bundletest.Bundle(t, repository, nil)
			is.NoErr(test.spoil(bundle))
			faults := inspect.Faults(bundle)
			if test.reports == "" {
				is.Equal(faults, nil)
				return
			}
			if !slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, test.reports) }) {
				t.Errorf("%q, nothing of %q", faults, test.reports)
			}
		})
	}
}

func appendTo(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, ' '), 0o644)
}

// flip changes a byte in the middle of a program.
func flip(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text[3*4096] ^= 1
	return os.WriteFile(path, text, 0o755)
}
