package trust

import (
	"path"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
)

// The groups of macOS that the table names.
const (
	wheel    = 0
	daemon   = 1
	everyone = 12
	staff    = 20
	admin    = 80
)

// macFolder is a folder as macOS has it.
func macFolder(gid uint32, mode uint32) file {
	var of unix.Stat_t
	of.Gid = gid
	setMode(&of.Mode, unix.S_IFDIR|mode)
	return file{Stat_t: of}
}

// setMode sets a mode, which is 16 bits wide on macOS and 32 on Linux.
func setMode[T uint16 | uint32](into *T, mode uint32) { *into = T(mode) }

// macOS is what a Mac as delivered has on the way of Fulmen's folders and programs
// in system mode. All of it is root's.
var macOS = map[string]file{
	"/":                            macFolder(wheel, 0o755),
	"/Applications":                macFolder(admin, 0o775),
	"/Library":                     macFolder(wheel, 0o755),
	"/Library/Application Support": macFolder(admin, 0o755),
	"/Library/LaunchDaemons":       macFolder(wheel, 0o755),
	"/Library/Logs":                macFolder(wheel, 0o755),
	"/private":                     macFolder(wheel, 0o755),
	"/private/var":                 macFolder(wheel, 0o755),
	"/private/var/run":             macFolder(daemon, 0o775),
	"/usr":                         macFolder(wheel, 0o755),
	"/usr/local":                   macFolder(wheel, 0o755),
	"/usr/local/bin":               macFolder(wheel, 0o755),
}

func TestTheFoldersOfMacOSAreTrusted(t *testing.T) {
	for _, of := range []string{
		api.MacStateFolder, api.MacLogFolder, "/private" + api.RuntimeFolder, "/private" + api.RuntimeFolder + "-ranks", // /var is a link to private/var
		"/Applications/Fulmen.app/Contents/MacOS/fulmend", "/usr/local/bin/fulmen", "/Library/LaunchDaemons/fulmen.plist",
	} {
		t.Run(of, func(t *testing.T) {
			is := is.New(t)
			known := 0
			for folder := of; folder != "/"; {
				folder = path.Dir(folder)
				f, isSystems := macOS[folder]
				if !isSystems {
					continue // Fulmen's own, which Create makes root's alone
				}
				known++
				if problem, _ := f.problem("darwin", true); problem != "" {
					t.Errorf("%s: %s", folder, problem)
				}
			}
			is.True(known > 1) // the table has what leads there
		})
	}
}

func TestGroupsOfASystem(t *testing.T) {
	for _, tt := range []struct {
		system string
		gid    uint32
		above  bool
		fine   bool
	}{
		{"darwin", wheel, true, true},
		{"darwin", daemon, true, true},
		{"darwin", admin, true, true},
		{"darwin", staff, true, false},
		{"darwin", everyone, true, false},
		{"darwin", 501, true, false},
		{"darwin", daemon, false, false}, // what is asked for is root's alone
		{"linux", 4, true, true},         // adm, to whom Debian gives /var/log
		{"linux", staff, true, true},
		{"linux", 100, true, false},
		{"linux", 1000, true, false},
		{"linux", wheel, false, false},
	} {
		problem, command := macFolder(tt.gid, 0o775).problem(tt.system, tt.above)
		if fine := problem == "" && command == ""; fine != tt.fine {
			t.Errorf("%s, group %d, above %t: %q", tt.system, tt.gid, tt.above, problem)
		}
	}
}
