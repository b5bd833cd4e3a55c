package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestFields(t *testing.T) {
	is := is.New(t)
	src, err := readSource(apiFolder)
	is.NoErr(err)
	memory := reflect.TypeFor[api.Memory]()
	byName := map[string]field{}
	for _, f := range src.Fields(memory) {
		byName[f.Name] = f
	}
	f := byName["total_bytes"]
	is.Equal(f, field{Owner: memory, GoName: "TotalBytes", Name: "total_bytes", Type: reflect.TypeFor[*int64](),
		Unit: "bytes", Doc: "The physical memory.", Optional: true})
	is.Equal(f.Key(), "Memory.TotalBytes")
	is.Equal(byName["pressure"].Unit, "") // a word has none
	names := []string{}
	for _, f := range src.Fields(reflect.TypeFor[api.KeyVersion]()) {
		names = append(names, f.Name)
	}
	is.Equal(strings.Join(names, " "), "node kind name inc seq") // embedded fields stand in place
}

func TestCollect(t *testing.T) {
	is := is.New(t)
	found := collect(reflect.TypeFor[api.MeasureStarted]())
	is.Equal(found.Structs["Error"], reflect.TypeFor[api.Error]()) // through lists and pointers
	is.Equal(found.Enums["MeasureState"], reflect.TypeFor[api.MeasureState]())
	is.True(found.Structs["Time"] == nil) // one word on the wire
}

func TestWords(t *testing.T) {
	is := is.New(t)
	src, err := readSource(apiFolder)
	is.NoErr(err)
	typ := reflect.TypeFor[api.Pressure]()
	is.Equal(src.Words(typ)["normal"], "No shortage.")
	is.Equal(valuesOf(typ), []string{"normal", "warning", "critical"})
	is.True(strings.HasPrefix(src.Doc(typ), "Pressure is how short"))
}

func TestWithoutName(t *testing.T) {
	is := is.New(t)
	is.Equal(withoutName("Peer", "Peer is the other end."), "The other end.")
	is.Equal(withoutName("JobQueued", "JobQueued waits."), "Waits.")
	is.Equal(withoutName("X", ""), "")
}

func TestReadErrors(t *testing.T) {
	is := is.New(t)
	_, err := readSource(filepath.Join(t.TempDir(), "none"))
	is.True(err != nil)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\nconst A, B = 1, 2\n"), 0o600))
	_, err = readSource(dir)
	is.True(err != nil && strings.Contains(err.Error(), "one constant a line"))
}
