package prepare

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// mergeVariables gives the environment of a rank before its Python environment is switched
// on: the account's own, and the submitter's values, each changed by place to
// what it means on this node. Names that are no variables are left out.
func mergeVariables(own []string, values map[string]string, place func(string) string) map[string]string {
	out := variables(own)
	for name, value := range values {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			continue
		}
		row, local := lookupVariable(name)
		_, has := out[name]
		if local && (row.rule == never || has) {
			continue
		}
		if place != nil {
			value = place(value)
		}
		out[name] = value
	}
	// Python holds back what it prints to a pipe; nobody wants to wait for the output of a job.
	if _, set := out["PYTHONUNBUFFERED"]; !set {
		out["PYTHONUNBUFFERED"] = "1"
	}
	return out
}

// usePython switches a Python environment on, as its own script of activation does:
// its programs come first in PATH and its folder is named.
func usePython(env map[string]string, folder string, conda bool) {
	env["PATH"] = strings.TrimSuffix(filepath.Join(folder, "bin")+":"+env["PATH"], ":")
	delete(env, "PYTHONHOME")
	if conda {
		delete(env, "VIRTUAL_ENV")
		env["CONDA_PREFIX"], env["CONDA_DEFAULT_ENV"] = folder, filepath.Base(folder)
		return
	}
	delete(env, "CONDA_PREFIX")
	delete(env, "CONDA_DEFAULT_ENV")
	env["VIRTUAL_ENV"] = folder
}

// variables takes entries "NAME=value"; of two with one name the last counts.
func variables(entries []string) map[string]string {
	out := map[string]string{}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			out[name] = value
		}
	}
	return out
}

// listed gives entries "NAME=value", ordered by name.
func listed(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}
