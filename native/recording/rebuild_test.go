package recording_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/recording"
	"fulmen/native/sim/scenario"
)

var update = flag.Bool("update", false, "write the golden files again")

func files(t *testing.T, folder string, names ...string) []recording.File {
	t.Helper()
	var all []recording.File
	for _, name := range names {
		all = append(all, recording.File{Name: name, Data: read(t, filepath.Join(folder, name))})
	}
	return all
}

// Three recorded Macs become a desk: a cable, one through a hub, and a slow one.
// What is written of it is read as the same desk.
func TestRebuild(t *testing.T) {
	is := is.New(t)
	made, notes, err := recording.Rebuild("desk", files(t, "testdata", "Book A.json", "Book A ports.txt", "Book B.json", "Studio C.json"))
	is.NoErr(err)
	joined := strings.Join(notes, "\n")
	is.True(strings.Contains(joined, "stranger"))       // the cable to a computer that was not recorded
	is.True(strings.Contains(joined, "book-b: port 2")) // in use at 40 Gb/s, so that its limit is not told
	text, err := recording.Format(made)
	is.NoErr(err)
	const path = "testdata/desk.toml"
	if *update {
		is.NoErr(os.WriteFile(path, text, 0o644))
	}
	is.Equal(string(text), string(read(t, path)))

	back, err := scenario.Parse("desk.toml", text)
	is.NoErr(err)
	is.Equal(back.Cables, made.Cables)
	is.Equal(back.Hubs, made.Hubs)
	for i, mac := range back.Macs {
		is.Equal(mac.Ports, made.Macs[i].Ports)
		is.Equal(mac.Interfaces, made.Macs[i].Interfaces)
		is.Equal(mac.RDMA, made.Macs[i].RDMA)
		is.Equal(mac.OSCapable, made.Macs[i].OSCapable)
		is.Equal(mac.Identity.Model, made.Macs[i].Identity.Model)
	}
}

func TestRebuildRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files   []recording.File
		reports string
	}{
		"ports before any Mac": {files(t, "testdata", "Book A ports.txt", "Book A.json"), "the latter followed by"},
		"two lists of ports":   {files(t, "testdata", "Book A.json", "Book A ports.txt", "Book A ports.txt"), "already"},
		"a scenario":           {files(t, "../sim/scenario/shipped", "hub-3.toml"), "is scenario"},
		"nothing known":        {files(t, ".", "doc.go"), "doc.go"},
		"one Mac":              {files(t, "testdata", "Book A.json"), "two or more"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, _, err := recording.Rebuild("desk", c.files)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.reports))
		})
	}
}

// Two real Macs on one cable.
func TestRebuildOfRecordings(t *testing.T) {
	folder := os.Getenv("FULMEN_FIXTURES")
	if folder == "" {
		t.Skip("FULMEN_FIXTURES names no folder with recordings of real Macs")
	}
	is := is.New(t)
	made, _, err := recording.Rebuild("two", files(t, filepath.Join(folder, "sp_thunderbolt"),
		"m3ultra_studio_peer_m5max_plus_tb5drive.json", "m5max_mbp_peer_m3ultra_rdma_on_local.json"))
	is.NoErr(err)
	is.Equal(len(made.Macs), 2)
	is.Equal(made.Macs[0].Identity.Model, "Mac15,14")
	is.Equal(made.Macs[1].Identity.Model, "Mac17,7")
	text, err := recording.Format(made)
	is.NoErr(err)
	is.True(strings.Contains(string(text), `ends = ["m3ultra-studio-peer-m5max-plus-tb5drive.tb2", "m5max-mbp-peer-m3ultra-rdma-on-local.tb1"]`))
	_, err = scenario.Parse("two.toml", text)
	is.NoErr(err)
}

// Whatever two recordings say, a scenario that is made of them can be written
// and read.
func FuzzRebuild(f *testing.F) {
	for _, pair := range [][2]string{
		{"Book A.json", "Book B.json"}, {"Book B.json", "Studio C.json"},
		{"../../darwin/testdata/recording.json", "Book A.json"},
	} {
		var data [2][]byte
		for i, name := range pair {
			var err error
			if data[i], err = os.ReadFile(filepath.Join("testdata", name)); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(data[0], data[1])
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		made, _, err := recording.Rebuild("desk", []recording.File{{Name: "a", Data: a}, {Name: "b", Data: b}})
		if err != nil {
			return
		}
		text, err := recording.Format(made)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scenario.Parse("desk.toml", text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}
