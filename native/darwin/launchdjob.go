package darwin

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fulmen/native"
)

// launchdJob writes a unit as the property list of a launchd job (launchd.plist(5)).
// A job in the system's domain becomes the unit's account with its groups; in an
// account's own domain it is that account already. It runs once, when it is
// loaded, and launchd kills its process group when its first process has ended.
func launchdJob(unit native.Unit, system bool) []byte {
	job := propertyList{
		"Label":                unit.Label,
		"ProgramArguments":     append([]string{unit.Program}, unit.Args...),
		"EnvironmentVariables": variables(unit.Env),
		"WorkingDirectory":     unit.Dir,
		"StandardInPath":       "/dev/null",
		"StandardOutPath":      unit.ErrorLog,
		"StandardErrorPath":    unit.ErrorLog,
		"RunAtLoad":            true,
		"KeepAlive":            false,
		"AbandonProcessGroup":  false,
		// Neither its processor time nor its disk is throttled for the sake of
		// what is on the screen.
		"ProcessType": "Interactive",
		// Between SIGTERM and SIGKILL when the Mac shuts down, in seconds.
		"ExitTimeOut": 15,
	}
	if system && unit.User != nil {
		job["UserName"], job["InitGroups"] = unit.User.Name, true
	}
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
`)
	job.write(&b, "")
	b.WriteString("</plist>\n")
	return b.Bytes()
}

// variables are the names and values of an environment.
func variables(env []string) propertyList {
	list := propertyList{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		list[name] = value
	}
	return list
}

// propertyList is a dictionary, as far as a job needs one.
type propertyList map[string]any

// write writes the dictionary, sorted by key, so that the same unit has the same
// bytes.
func (p propertyList) write(b *bytes.Buffer, indent string) {
	b.WriteString(indent + "<dict>\n")
	inner := indent + "\t"
	for _, key := range slices.Sorted(maps.Keys(p)) {
		writeTag(b, inner, "key", key)
		switch value := p[key].(type) {
		case string:
			writeTag(b, inner, "string", value)
		case []string:
			b.WriteString(inner + "<array>\n")
			for _, element := range value {
				writeTag(b, inner+"\t", "string", element)
			}
			b.WriteString(inner + "</array>\n")
		case bool:
			fmt.Fprintf(b, "%s<%t/>\n", inner, value)
		case int:
			writeTag(b, inner, "integer", fmt.Sprint(value))
		case propertyList:
			value.write(b, inner)
		}
	}
	b.WriteString(indent + "</dict>\n")
}

func writeTag(b *bytes.Buffer, indent, tag, value string) {
	b.WriteString(indent + "<" + tag + ">")
	_ = xml.EscapeText(b, []byte(value)) // a buffer takes everything
	b.WriteString("</" + tag + ">\n")
}
