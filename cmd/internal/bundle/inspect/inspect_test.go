package inspect_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app/mac/goflags"
	"fulmen/cmd/internal/bundle/bundletest"
	"fulmen/cmd/internal/bundle/inspect"
	"fulmen/cmd/internal/bundle/layout"
)

const repository = "../../../.."

func TestBundle(t *testing.T) {
	replace := func(name, old, fresh string) func(string) error {
		return func(bundle string) error {
			path := filepath.Join(bundle, "Contents", name)
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if !strings.Contains(string(text), old) {
				t.Errorf("%s does not hold %q", name, old)
			}
			return os.WriteFile(path, []byte(strings.Replace(string(text), old, fresh, 1)), 0o644)
		}
	}
	images := func(name string, change func(*bundletest.Image)) func(map[string]bundletest.Image) {
		return func(files map[string]bundletest.Image) {
			image := files[name]
			change(&image)
			files[name] = image
		}
	}
	for name, test := range map[string]struct {
		images  func(map[string]bundletest.Image)
		spoil   func(bundle string) error
		reports []string
	}{
		"all is well": {},
		"notarized": {spoil: func(b string) error {
			return os.WriteFile(filepath.Join(b, "Contents/CodeResources"), []byte("s8ch"), 0o644)
		}},
		"another identifier": {spoil: replace("Info.plist", "org.fulmen.app", "org.example.app"),
			reports: []string{"Info.plist: CFBundleIdentifier is org.example.app, but the code says org.fulmen.app"}},
		"another service": {spoil: replace("Info.plist", "_fulmen._tcp", "_fulmen._udp"), reports: []string{"Info.plist: NSBonjourServices is [_fulmen._udp], but the code says [_fulmen._tcp]"}},
		"another scheme":  {spoil: replace("Info.plist", "<string>fulmen</string>", "<string>http</string>"), reports: []string{"CFBundleURLTypes is"}},
		"another version": {spoil: replace("Info.plist", "<key>CFBundleVersion</key>\n\t<string>", "<key>CFBundleVersion</key>\n\t<string>9"), reports: []string{"CFBundleVersion is 9"}},
		"a broken plist":  {spoil: replace("Info.plist", "</dict>", ""), reports: []string{"Info.plist: property list, line"}},
		"another label":   {spoil: replace(layout.LaunchdJob, "<string>org.fulmen.daemon<", "<string>org.fulmen.other<"), reports: []string{"Label is org.fulmen.other"}},
		"another port":    {spoil: replace(layout.LaunchdJob, "7731", "7732"), reports: []string{"Sockets is"}},
		"another program": {spoil: replace(layout.LaunchdJob, "MacOS/fulmend", "MacOS/fulmen"), reports: []string{"BundleProgram is Contents/MacOS/fulmen,"}},
		"a whole path":    {spoil: replace(layout.LaunchdJob, "<key>RunAtLoad</key>", "<key>Program</key><string>/tmp/x</string><key>RunAtLoad</key>"), reports: []string{"has Program"}},
		"restarted always": {spoil: replace(layout.LaunchdJob, "<key>SuccessfulExit</key>\n\t\t<false/>", "<key>SuccessfulExit</key>\n\t\t<true/>"),
			reports: []string{"KeepAlive is map[SuccessfulExit:true]"}},
		"no team": {spoil: replace(layout.LaunchdJob, "<key>RunAtLoad</key>", "<key>SpawnConstraint</key><dict><key>signing-identifier</key><string>org.fulmen.daemon</string></dict><key>RunAtLoad</key>"),
			reports: []string{"does not name the daemon and a team"}},
		"a missing program": {spoil: func(b string) error { return os.Remove(filepath.Join(b, "Contents/MacOS/fulmen")) }, reports: []string{"MacOS/fulmen is missing", "fulmen: open"}},
		"a file too many":   {spoil: func(b string) error { return os.WriteFile(filepath.Join(b, "Contents/notes"), nil, 0o644) }, reports: []string{"notes does not belong there"}},
		"written by anybody": {spoil: func(b string) error { return os.Chmod(filepath.Join(b, "Contents/MacOS/fulmend"), 0o777) },
			reports: []string{"MacOS/fulmend has the mode -rwxrwxrwx, not -rwxr-xr-x"}},
		"a program of nothing": {spoil: func(b string) error { return os.WriteFile(filepath.Join(b, "Contents/MacOS/fulmend"), nil, 0o755) }, reports: []string{"MacOS/fulmend is empty"}},
		"an older system":      {images: images("fulmend", func(i *bundletest.Image) { i.System = 14 }), reports: []string{"fulmend is for macOS 14.0 and newer, not 26.0"}},
		"an app that crashes": {images: images("fulmen-app", func(i *bundletest.Image) { i.GoFlag = "-gcflags=all=-N" }),
			reports: []string{"fulmen-app: it was built without " + goflags.Flag()}},
		"an app of nobody knows what": {images: images("fulmen-app", func(i *bundletest.Image) { i.GoFlag = "" }), reports: []string{"fulmen-app: could not read Go build info"}},
		"a library from outside": {images: images("fulmen", func(i *bundletest.Image) { i.Libraries = append(i.Libraries, "/opt/homebrew/lib/libx.dylib") }),
			reports: []string{"fulmen loads /opt/homebrew/lib/libx.dylib, which fulmen finds nowhere in the bundle"}},
		"a library twice": {images: images("fulmen", func(i *bundletest.Image) { i.Libraries = append(i.Libraries, i.Libraries...) }), reports: []string{"twice"}},
		"no run path":     {images: images("fulmen-rank", func(i *bundletest.Image) { i.RunPaths = nil }), reports: []string{"@rpath/libmlx.dylib, which fulmen-rank finds nowhere"}},
		"a way out": {images: images("fulmen-rank", func(i *bundletest.Image) { i.RunPaths = append(i.RunPaths, "@executable_path/../../../lib") }),
			reports: []string{"outside of the bundle"}},
		"another name": {images: images("libjaccl.dylib", func(i *bundletest.Image) { i.Name = "@rpath/libother.dylib" }), reports: []string{"calls itself @rpath/libother.dylib"}},
		"a library that searches": {images: images("libmlx.dylib", func(i *bundletest.Image) { i.RunPaths = []string{"@loader_path"} }),
			reports: []string{"libmlx.dylib looks for libraries in @loader_path"}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			bundle := bundletest.Bundle(t, repository, test.images)
			if test.spoil != nil {
				is.NoErr(test.spoil(bundle))
			}
			faults := strings.Join(inspect.Faults(bundle), "\n")
			if len(test.reports) == 0 {
				is.Equal(faults, "")
			}
			for _, reports := range test.reports {
				if !strings.Contains(faults, reports) {
					t.Errorf("nothing says %q in:\n%s", reports, faults)
				}
			}
		})
	}
}

// The daemon is back before a lease has run out, however often it crashes.
func TestTheThrottleIsFarBelowALease(t *testing.T) {
	is := is.New(t)
	keys, err := os.ReadFile(filepath.Join(repository, "docs/configuration.md"))
	is.NoErr(err)
	m := regexp.MustCompile("(?m)^\\| `times.lease` \\| duration \\| `\"(\\d+)s\"`").FindSubmatch(keys)
	is.True(m != nil)
	lease, err := strconv.ParseInt(string(m[1]), 10, 64)
	is.NoErr(err)
	text, err := os.ReadFile(filepath.Join(repository, "assets/launchd", filepath.Base(layout.LaunchdJob)))
	is.NoErr(err)
	job, err := layout.ReadJob(text)
	is.NoErr(err)
	throttle, _ := job["ThrottleInterval"].(int64)
	is.True(throttle > 0)
	is.True(throttle*4 <= lease)
}
