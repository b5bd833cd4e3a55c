package nativetest

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

//go:embed testdata/conform
var conformFiles embed.FS

// Script is a story that every backend can play: a cluster, what it needs of the
// backend, and changes with what must follow from each.
//
// Its file begins with "cluster NAME" and "needs NEED...". Every line after
// that is one step; # begins a comment line. Changes are in the language of
// [scenario.ParseOp]. The other steps are what must hold:
//
//	hint MAC AREA...                 each was hinted since the last change
//	nohint MAC AREA...               none is hinted before the hint of the next change
//	notice MAC EVENT                 that power notice came since the last change
//	expect MAC AREA PATH OP VALUE    OP is == != < <= > >= contains lacks; VALUE is JSON
//	count MAC AREA PATH N            a list has N elements
//	present MAC AREA PATH            the fact is there
//	gone MAC AREA PATH[...]          the list is there, the element is not
//	absent MAC AREA [PATH] [reason KEY]
//	same MAC AREA PATH MAC AREA PATH
//	differ MAC AREA PATH MAC AREA PATH
//
// PATH names a fact as the JSON of [native.Snapshot] does, an element of a list
// by a field of its own: ports[receptacle=2].negotiated.tx_bits_per_s. What is
// absent needs its reason, except where the contract calls it optional.
//
// Every step waits for what it wants to hear or read, and fails when the
// script's patience ends first. A nohint waits for nothing: it is judged by
// order, at the hint of the change that follows it.
type Script struct {
	// Name is the file's, without folder and ending.
	Name string
	// Title is its first comment line.
	Title string
	// Cluster is what the backend builds.
	Cluster scenario.Scenario
	// Needs are what the backend must have.
	Needs []Need

	steps []step
}

// step is one line after the head.
type step struct {
	line int
	text string
	// verb is "op" for a change, else the line's first word.
	verb string
	// op is the change.
	op scenario.Op
	// mac and areas are those of hint and nohint, mac and event of notice.
	mac   string
	areas []native.Area
	event native.PowerEvent
	// claim is that of the other verbs.
	claim claim
}

// Macs returns the names of the cluster's Macs in their order.
func (s Script) Macs() []string {
	names := make([]string, len(s.Cluster.Macs))
	for i, mac := range s.Cluster.Macs {
		names[i] = mac.Name
	}
	return names
}

// Scripts returns the shipped scripts, ordered by name. An error names its file
// and line.
func Scripts() ([]Script, error) {
	files, err := fs.Glob(conformFiles, "testdata/conform/*.script")
	if err != nil {
		return nil, err
	}
	scripts := make([]Script, len(files))
	for i, file := range files {
		text, err := conformFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if scripts[i], err = ParseScript(path.Base(file), text, shippedCluster); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(scripts, func(a, b Script) int { return strings.Compare(a.Name, b.Name) })
	return scripts, nil
}

// shippedCluster reads one of the clusters beside the scripts.
func shippedCluster(name string) (scenario.Scenario, error) {
	text, err := conformFiles.ReadFile("testdata/conform/" + name + ".toml")
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("no cluster %.40q is shipped", name)
	}
	return scenario.Parse(name+".toml", text)
}

// fileName cuts the ending off.
func fileName(file string) string {
	name, _, _ := strings.Cut(file, ".")
	return name
}
