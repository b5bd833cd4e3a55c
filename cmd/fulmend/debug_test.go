package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const testdata = "../../native/systemprofiler/testdata/hub.json"

// debugParse runs the command; each object that it printed is one of the files.
func debugParse(t *testing.T, in string, args ...string) (status int, files []parsed, complaints string) {
	t.Helper()
	is := is.New(t)
	var out, errs bytes.Buffer
	status = ended(runDebug(append([]string{"parse"}, args...), strings.NewReader(in), &out, &errs), &errs)
	for decoder := json.NewDecoder(&out); ; {
		var file parsed
		err := decoder.Decode(&file)
		if err == io.EOF {
			return status, files, errs.String()
		}
		is.NoErr(err)
		files = append(files, file)
	}
}

func TestDebugParse(t *testing.T) {
	is := is.New(t)
	status, files, complaints := debugParse(t, "Hardware Port: Thunderbolt 2\nDevice: en6\n", testdata, "-")
	is.Equal(status, api.ExitOK)
	is.Equal(complaints, "")
	is.Equal(len(files), 2)
	is.Equal(files[0].File, testdata)
	is.Equal(files[0].Kind, "system_profiler.thunderbolt")
	is.Equal(len(files[0].Facts.(map[string]any)["ports"].([]any)), 3)
	is.True(files[0].Notes != nil) // an empty list, not null
	is.Equal(files[1].Kind, "networksetup.hardware_ports")
}

// One file that cannot be read does not keep the others from being read.
func TestDebugParseComplains(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(folder, "large")
	if err := os.WriteFile(large, make([]byte, maxDebugFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, reports := range map[string]string{
		"debug_test.go":                  "networksetup -listallhardwareports", // the list of what can be read
		large:                            "larger than 16 MiB",
		filepath.Join(folder, "missing"): "no such file",
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			is := is.New(t)
			status, files, complaints := debugParse(t, "", name, testdata)
			is.Equal(status, api.ExitFailed)
			is.Equal(len(files), 1)
			is.Equal(files[0].File, testdata)
			is.True(strings.Contains(complaints, reports))
		})
	}
}

// Recordings of several Macs together are a scenario, which is printed as its file.
func TestDebugParseMakesAScenario(t *testing.T) {
	is := is.New(t)
	const folder = "../../native/recording/testdata/"
	var out, errs bytes.Buffer
	is.NoErr(runDebug([]string{"parse", "--scenario", "desk", folder + "Book A.json", folder + "Book A ports.txt", folder + "Book B.json", folder + "Studio C.json"},
		strings.NewReader(""), &out, &errs))
	want, err := os.ReadFile(folder + "desk.toml")
	is.NoErr(err)
	is.Equal(out.String(), string(want))
	is.True(strings.Contains(errs.String(), "was not recorded"))

	out.Reset()
	errs.Reset()
	is.Equal(ended(runDebug([]string{"parse", "--scenario", "desk", folder + "Book A.json"}, strings.NewReader(""), &out, &errs), &errs), api.ExitFailed)
	is.Equal(out.String(), "")
	is.True(strings.Contains(errs.String(), "two or more"))
}

// A name that a stranger chose does not steer the terminal.
func TestDebugComplaintsAreText(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	complain(&out, "a\x1b[2Jb\nc")
	is.Equal(out.String(), "fulmend: a\uFFFD[2Jb\n  c\n")
}

func TestDebugUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"dance"}, {"parse"}, {"parse", "-dance"}} {
		is := is.New(t)
		var out, errs bytes.Buffer
		is.Equal(ended(runDebug(args, strings.NewReader(""), &out, &errs), &errs), api.ExitUsage)
		is.Equal(out.String(), "")
		is.True(strings.Contains(errs.String(), "parse"))
	}
}
