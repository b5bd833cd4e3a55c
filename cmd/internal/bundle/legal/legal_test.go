package legal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/legal"
)

const repository = "../../../.."

// Every module that is in a program has a licence that is known, and its text is
// in what is shipped.
func TestEverythingShippedHasALicence(t *testing.T) {
	is := is.New(t)
	if testing.Short() {
		t.Skip("the go command lists every package of the programs")
	}
	var packages []string
	for _, name := range layout.Programs() {
		packages = append(packages, "./cmd/"+name)
	}
	root, err := filepath.Abs(repository)
	is.NoErr(err)
	parts, err := legal.Modules(root, packages...)
	is.NoErr(err)
	found := map[string]string{}
	for _, c := range parts {
		found[c.Name] = c.Licence
	}
	is.Equal(found["std"], "BSD-3-Clause")
	is.Equal(found["github.com/hashicorp/memberlist"], "MPL-2.0")
	is.Equal(found["github.com/coder/websocket"], "ISC")
	is.Equal(found["fyne.io/systray"], "Apache-2.0")
	is.Equal(found["go.etcd.io/bbolt"], "MIT")
	is.Equal(found["github.com/creachadair/mds"], "BSD-3-Clause") // in other words than Go's
	is.Equal(found["github.com/godbus/dbus/v5"], "BSD-2-Clause")
	is.Equal(found["github.com/matryer/is"], "") // only in tests
	is.Equal(found["honnef.co/go/tools"], "")    // a tool
	text := legal.Text("OWN LICENCE", parts)
	for _, c := range parts {
		is.True(strings.Contains(text, c.Name+" "+c.Version+" ("+c.Licence+")"))
		for _, one := range c.Texts {
			is.True(strings.Contains(text, one))
		}
	}
	is.True(strings.Contains(text, "OWN LICENCE"))
}

func TestMLX(t *testing.T) {
	is := is.New(t)
	pins := filepath.Join(repository, "cmd/internal/deps/pins.txt")
	unpacked := filepath.Join(repository, "build/tools/mlx-metal")
	if _, err := os.Stat(unpacked); err != nil {
		unpacked = filepath.Join(repository, "build/mlx/current") // on a Mac
	}
	c, err := legal.MLX(unpacked, pins)
	if os.IsNotExist(err) {
		t.Skip("MLX for macOS is not there: cmd/internal/deps/deps.sh darwin fetches it")
	}
	is.NoErr(err)
	is.Equal(c.Name, "mlx-metal")
	is.Equal(c.Licence, "MIT")
	is.Equal(len(c.SHA256), 64)
}

// The page's packages are those that it ships parts of, and no tools.
func TestPage(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(folder, name)
		is.NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
		is.NoErr(os.WriteFile(path, []byte(text), 0o644))
	}
	const mit = "Permission is hereby granted, free of charge, to any person obtaining a copy"
	put("package-lock.json", `{"packages": {"": {"version": "0"}, "node_modules/svelte": {"version": "5.1.0"},
		"node_modules/svelte/node_modules/@a/b": {"version": "2.0.0"}, "node_modules/vite": {"version": "8.0.0", "dev": true}}}`)
	put("node_modules/svelte/LICENSE.md", mit)
	put("node_modules/svelte/package.json", "{}")
	put("node_modules/svelte/node_modules/@a/b/package.json", `{"license": "MIT", "author": "Ada"}`) // and no text
	parts, err := legal.Page(folder)
	is.NoErr(err)
	is.Equal(len(parts), 2)
	is.Equal(parts[0].URL, "pkg:npm/svelte@5.1.0")
	is.Equal(parts[1].URL, "pkg:npm/%40a/b@2.0.0")
	is.Equal(parts[1].Licence, "MIT")
	is.True(strings.Contains(parts[1].Texts[0], "author Ada"))
	put("node_modules/svelte/LICENSE.md", "All rights reserved.")
	_, err = legal.Page(folder)
	is.True(strings.Contains(err.Error(), "svelte 5.1.0: none of its 1 licence files is known"))
}

func TestRecognise(t *testing.T) {
	is := is.New(t)
	is.Equal(legal.Recognise("Mozilla Public License, version 2.0\n\n1. Definitions"), "MPL-2.0")
	is.Equal(legal.Recognise("Permission is hereby granted, free of charge,\n  to any person obtaining a copy of this"), "MIT")
	is.Equal(legal.Recognise("Redistribution and use in source and binary forms, with or without"), "BSD-2-Clause")
	is.Equal(legal.Recognise("GNU GENERAL PUBLIC LICENSE\nVersion 3"), "") // nothing is shipped under it
	is.Equal(legal.Recognise("All rights reserved."), "")
}

func TestTextHasEachTextOnce(t *testing.T) {
	is := is.New(t)
	text := legal.Text("own", []legal.Component{
		{Name: "a", Version: "1", Licence: "MIT", Texts: []string{"the same"}}, {Name: "b", Version: "2", Licence: "MIT", Texts: []string{"the same", "a notice"}},
	})
	is.Equal(strings.Count(text, "the same"), 1)
	is.True(strings.Contains(text, "a 1\nb 2\n---")) // for both
	is.True(strings.Contains(text, "a notice"))
}

func TestMaterials(t *testing.T) {
	is := is.New(t)
	text, err := legal.Materials(legal.Product{Version: "1.2.3", Namespace: "https://example.org/1", Made: time.Unix(1790000000, 0)}, []legal.Component{
		{Name: "go.etcd.io/bbolt", Version: "1.5.0", URL: "pkg:golang/go.etcd.io/bbolt@v1.5.0", Licence: "MIT"},
		{Name: "mlx-metal", Version: "0.32.4", URL: "pkg:pypi/mlx-metal@0.32.4", Licence: "MIT", SHA256: "ab"},
	})
	is.NoErr(err)
	var d struct {
		SPDXVersion  string
		CreationInfo struct{ Created string }
		Packages     []struct {
			SPDXID, Name, LicenseDeclared string
			Checksums                     []struct{ ChecksumValue string }
		}
		Relationships []struct{ SPDXElementID, RelationshipType, RelatedSPDXElement string }
	}
	is.NoErr(json.Unmarshal(text, &d))
	is.Equal(d.SPDXVersion, "SPDX-2.3")
	is.Equal(d.CreationInfo.Created, "2026-09-21T14:13:20Z")
	is.Equal(len(d.Packages), 3)
	is.Equal(d.Packages[1].SPDXID, "SPDXRef-go.etcd.io-bbolt-1.5.0")
	is.Equal(d.Packages[2].Checksums[0].ChecksumValue, "ab")
	is.Equal(len(d.Relationships), 3)
	is.Equal(d.Relationships[2].RelatedSPDXElement, d.Packages[2].SPDXID)
}
