package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// paramsSuffix marks a struct as it is in the parameters of a local method,
// where it also stands elsewhere. The daemon refuses unknown fields of
// parameters, so that a misspelt option is not taken for a default, and keeps
// those of everything else; one definition cannot say both.
const paramsSuffix = "Params"

// contract is package daemon/api as the writers here need it.
type contract struct {
	src     *source
	open    map[string]reflect.Type // structs whose unknown fields are kept
	strict  map[string]reflect.Type // structs in parameters of local methods
	all     types
	clients map[string]bool // names of all types that a local client meets
}

// readAPI reads the source in a folder; the types are those compiled in.
func readAPI(dir string) (*contract, error) {
	src, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	var params, rest, peers []reflect.Type
	rest = append(rest, loose()...)
	for _, k := range api.Kinds() {
		rest = append(rest, k.Value)
	}
	for _, m := range api.Methods() {
		params, rest = append(params, m.Params), append(rest, m.Result)
	}
	for _, n := range api.Notifications() {
		rest = append(rest, n.Params)
	}
	for _, m := range api.PeerMethods() { // of another version, perhaps: what it adds is kept
		peers = append(peers, m.Params, m.Result)
	}
	for _, n := range api.PeerNotifications() {
		peers = append(peers, n.Params)
	}
	strict, all := collect(params...), collect(slices.Concat(params, rest, peers)...)
	c := &contract{src: src, open: collect(slices.Concat(rest, peers)...).Structs, strict: strict.Structs,
		all: all, clients: map[string]bool{}}
	// A document reads itself, and keeps what it does not know wherever it stands.
	delete(c.strict, reflect.TypeFor[api.Document]().Name())
	met := collect(slices.Concat(params, rest)...)
	for name := range met.Structs {
		c.clients[name] = true
	}
	for name := range met.Enums {
		c.clients[name] = true
	}
	for name := range c.strict {
		if c.open[name] == nil {
			continue
		}
		if clash := name + paramsSuffix; c.open[clash] != nil || c.strict[clash] != nil || c.all.Enums[clash] != nil {
			return nil, fmt.Errorf("there is a type %s, which is the name of %s in parameters", clash, name)
		}
	}
	return c, nil
}

// name is a struct's name among the definitions.
func (c *contract) name(t reflect.Type, strict bool) string {
	if strict && c.strict[t.Name()] != nil && c.open[t.Name()] != nil {
		return t.Name() + paramsSuffix
	}
	return t.Name()
}

// definition is one struct as it is defined.
type definition struct {
	Name   string
	Type   reflect.Type
	Strict bool
}

// structs lists the structs to be defined, by name.
func (c *contract) structs() []definition {
	var out []definition
	for _, t := range c.open {
		out = append(out, definition{c.name(t, false), t, false})
	}
	for _, t := range c.strict {
		out = append(out, definition{c.name(t, true), t, true})
	}
	slices.SortFunc(out, func(a, b definition) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// enumTypes lists the enums by name.
func (c *contract) enumTypes() []reflect.Type { return sorted(c.all.Enums) }

// sorted are types by name.
func sorted(types map[string]reflect.Type) []reflect.Type {
	var out []reflect.Type
	for _, name := range slices.Sorted(maps.Keys(types)) {
		out = append(out, types[name])
	}
	return out
}

// optional reports whether a field may be absent where it stands.
func optional(f field, strict bool) bool {
	return f.Optional || strict && defaults()[f.Key()] != ""
}

// defaults are the fields of parameters that the daemon fills in, by the fields'
// keys, with what it fills in.
func defaults() map[string]string {
	return map[string]string{
		"Program.Stdin": string(api.StdinNone), "Placement.Backend": string(api.BackendAuto), "Placement.GPU": string(api.GPUExclusive),
		"JobRequest.Output": string(api.OutputDelete),
	}
}

// holds are the fields whose value travels as the bytes that were signed, by
// the fields' keys, with the struct that this version writes there.
func holds() map[string]reflect.Type {
	spec := reflect.TypeFor[api.JobSpec]()
	return map[string]reflect.Type{"Job.Spec": spec, "PeerJobParams.Spec": spec, "Warrant.Spec": spec}
}
