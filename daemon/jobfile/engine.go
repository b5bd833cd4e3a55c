package jobfile

import (
	"cmp"
	"embed"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

//go:embed engines
var shipped embed.FS

// engineSuffix ends the name of an engine's file.
const engineSuffix = ".toml"

// Engine reads an engine: a job's file in which {port} stands for the port of the service,
// and an argument that begins with {tensor} or {pipeline} is for that sharding alone. It is one
// of folder's, else one of Fulmen's own. The error is an *Error for what is wrong with the file.
func Engine(name, folder string) (api.JobRequest, error) {
	if name != filepath.Base(name) {
		return api.JobRequest{}, api.Errorf(api.ReasonBadValue, "engine", "%.80q is not the name of an engine.", name)
	}
	path := filepath.Join(folder, name+engineSuffix)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = shipped.ReadFile("engines/" + name + engineSuffix); err != nil {
			return api.JobRequest{}, api.Errorf(api.ReasonBadValue, name, "There is no engine %s.", name).
				WithRemedy("There are: " + strings.Join(Engines(folder), ", ") + ". One of your own is a file: " + path + ".")
		}
		path = name + engineSuffix
	}
	if err != nil {
		return api.JobRequest{}, api.Errorf(api.ReasonBadValue, path, "%s cannot be read.", path).From(err)
	}
	return ParseEngine(path, string(text))
}

// ParseEngine reads the text of an engine's file. The error is an *Error.
func ParseEngine(path, text string) (api.JobRequest, error) {
	request, err := Parse(path, text, func(word string) (api.NodeID, error) {
		return "", api.Errorf(api.ReasonBadValue, word, "an engine names no Macs")
	})
	switch {
	case err != nil:
		return request, err
	case len(request.Program.Command) == 0:
		return request, &Error{path, []Problem{{Message: "program.command is missing"}}}
	}
	return request, nil
}

// Engines are the names of those that there are, Fulmen's own and those of a folder.
func Engines(folder string) []string {
	all, _ := shipped.ReadDir("engines") // which is there
	own, _ := os.ReadDir(folder)         // which need not be
	var names []string
	for _, f := range append(all, own...) {
		if name, isEngine := strings.CutSuffix(f.Name(), engineSuffix); isEngine {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Serve has an engine's job serve at a port, with a sharding.
func Serve(r *api.JobRequest, port int, sharding api.Sharding) {
	number := strconv.Itoa(port)
	var command []string
	for _, word := range r.Program.Command {
		isOther := false
		for _, one := range sharding.Values() {
			rest, isOfIt := strings.CutPrefix(word, "{"+one+"}")
			if isOfIt {
				word, isOther = rest, one != string(sharding)
				break
			}
		}
		if !isOther {
			command = append(command, strings.ReplaceAll(word, "{port}", number))
		}
	}
	r.Program.Command = command
	r.Publish = append([]api.Publish{{Port: port}}, r.Publish...)
	if r.Probes == nil { // that it takes connections is the least
		r.Probes = &api.Probes{Readiness: &api.Probe{}}
	}
	for _, p := range r.Probes.All() {
		for i, word := range p.Command {
			p.Command[i] = strings.ReplaceAll(word, "{port}", number)
		}
		if p.Port == 0 && len(p.Command) == 0 {
			p.Port = port
		}
	}
}

// Instance is the job of an instance of a model, by an engine; its port and nodes are still to
// be named.
func Instance(spec api.InstanceSpec, engine api.JobRequest) api.JobRequest {
	r := engine
	r.Name, r.Model, r.FetchModel, r.Kept, r.Detached = spec.Name, spec.Model, true, true, true
	r.Sharding = spec.Sharding
	r.Labels = maps.Clone(r.Labels)
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	r.Labels[api.LabelEngine] = spec.Engine
	p := &r.Placement
	p.Ranks, p.MinNodes, p.MaxNodes = cmp.Or(spec.Ranks, p.Ranks), cmp.Or(spec.MinNodes, p.MinNodes), cmp.Or(spec.MaxNodes, p.MaxNodes)
	p.Widest = p.Widest || spec.Widest
	p.MemoryBytes, p.Networks = cmp.Or(spec.MemoryBytes, p.MemoryBytes), append(slices.Clone(p.Networks), spec.Networks...)
	if spec.Backend != "" {
		p.Backend = spec.Backend
	}
	if p.Ranks == 0 {
		p.MinNodes = max(p.MinNodes, 1)
	}
	r.Program.Stdin, r.Program.Home = api.StdinNone, spec.Home
	if spec.Environment != "" {
		r.Program.Environment = spec.Environment
	}
	r.Program.Variables = slices.Clone(r.Program.Variables)
	for _, name := range spec.Variables {
		if !slices.Contains(r.Program.Variables, name) {
			r.Program.Variables = append(r.Program.Variables, name)
		}
	}
	return r
}
