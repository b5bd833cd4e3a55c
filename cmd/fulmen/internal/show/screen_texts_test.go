package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"fulmen/app"
	"fulmen/daemon/api"
)

// screenTexts is what screens say, by the screen, the thing and the fact.
type screenTexts map[string]string

// add has a screen say something; nothing where the text is empty.
func (s screenTexts) add(text, key string, args ...any) {
	if text != "" {
		s[fmt.Sprintf(key, args...)] = text
	}
}

// columns adds the cells of a table, by the first one of each row and the heading. What spans
// a row below is its further lines.
func (s screenTexts) columns(screen, page, first string) {
	var names []string
	var from []int
	thing, further := "", 0
	for line := range strings.SplitSeq(page, "\n") {
		row := []rune(line)
		switch {
		case names == nil && strings.HasPrefix(line, first+"  "):
			for i := 0; i < len(row); i++ {
				if row[i] != ' ' && (i == 0 || row[i-1] == ' ' && row[i-2] == ' ') {
					from = append(from, i)
				}
			}
			for i, at := range from {
				names = append(names, strings.TrimSpace(string(row[at:until(from, i, len(row))])))
			}
		case names != nil && line == "":
			return
		case names != nil && strings.HasPrefix(line, "All of them") || strings.HasPrefix(line, "Not of "): // a sentence below
			return
		case names != nil && row[0] == ' ':
			further++
			s.add(strings.TrimSpace(line), "%s %s +%d", screen, thing, further)
		case names != nil:
			further = 0
			for i, at := range from {
				cell := ""
				if at < len(row) {
					cell = strings.TrimSpace(string(row[at:min(until(from, i, len(row)), len(row))]))
				}
				if i == 0 {
					thing = cell
				} else {
					s.add(cell, "%s %s %s", screen, thing, names[i])
					s.add(string(Style(names[i], cell)), "%s %s %s colour", screen, thing, names[i])
				}
			}
		}
	}
}

// until is where the column ends that begins at from[i].
func until(from []int, i, most int) int {
	if i+1 < len(from) {
		return from[i+1]
	}
	return most
}

// menu adds the lines of the menu that say something of the cluster.
func (s screenTexts) menu(m app.Menu) {
	s.add(string(m.Icon), "menu icon")
	s.add(m.Title, "menu title")
	for _, top := range m.Items {
		kind, _, _ := strings.Cut(top.ID, ":")
		if !slices.Contains([]string{"headline", "summary", "node", "job", "copy", "condition", "pending"}, kind) {
			continue
		}
		s.add(top.Title, "menu %s", top.ID)
		for _, below := range top.Items {
			if below.Disabled && below.Do == nil {
				s.add(below.Title, "menu %s", below.ID)
			}
		}
	}
}

// ports adds what one Mac's lines say of its ports, and of the paths to it.
func (s screenTexts) ports(text string, id api.NodeID) {
	port, inPaths := "", false
	for line := range strings.SplitSeq(text, "\n") {
		cells := manyGaps.Split(line, 2)
		if len(cells) < 2 {
			continue
		}
		if cells[0] != "" {
			port, inPaths = cells[0], cells[0] == "paths"
		}
		key := fmt.Sprintf("node %s: %s", id, port)
		_, to, is := strings.Cut(cells[1], "-> m")
		switch {
		case inPaths:
			s[key] = written("\n", s[key], cells[1])
		case strings.HasPrefix(port, "port ") && is:
			far, _, _ := strings.Cut("m"+to, ",")
			s.add(far, "%s", key)
		case strings.HasPrefix(port, "port ") && !strings.Contains(cells[1], "-> "):
			s.add(cells[1], "%s", key)
		}
	}
}

// page adds a text of the page: a fact a line, below its heading, and the lines without a name
// together.
func (s screenTexts) page(screen, text string) {
	section, rest := "", []string{}
	for line := range strings.SplitSeq(text, "\n") {
		name, value, isFact := strings.Cut(line, " | ")
		switch {
		case line == "Output" || screen == "page cluster" && !isFact:
			section = "left out" // others look at cables and output
		case slices.Contains([]string{"Ranks", "History"}, line):
			section, rest = "", append(rest, line)
		case section == "left out" && !isFact:
		case name == "Rank" || name == "Job" || name == "Name" || name == "Model": // a heading
		case isFact && section != "" && section != "left out" || isFact && !strings.HasPrefix(screen, "panel"):
			s.add(strings.TrimSuffix(value, " |"), "%s %s/%s", screen, strings.TrimPrefix(section, "left out"), name)
		case slices.Contains([]string{"Now", "Last known", "Measured", "Facts", "Paths", "Thunderbolt", "What it lends"}, line):
			section = line
		case section == "Paths":
			key := screen + " Paths"
			s[key] = written("\n", s[key], line)
		case section == "Thunderbolt":
			port, plugged, _ := strings.Cut(line, ": ")
			s.add(plugged, "%s Thunderbolt/%s", screen, port)
		default:
			rest = append(rest, line)
		}
	}
	if screen == "page models" {
		for i, line := range rest {
			if _, from, is := strings.Cut(line, "Copying from "); is {
				s.add("Copying from "+from, "%s copying %s", screen, rest[i-1])
			} else if name, why, is := strings.Cut(line, ": "); is {
				s.add(why, "%s not of %s", screen, name)
			}
		}
	}
	if !slices.Contains([]string{"page jobs", "page models", "page instances"}, screen) {
		s.add(strings.Join(rest, "\n"), "%s", screen)
	}
}

// agree compares what the screens say with what they have to.
func (d *drawnCluster) agree(t *testing.T, shown, wanted screenTexts) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if shown[key] != wanted[key] {
			t.Errorf("seed %d: %s\n   says %q\n    not %q", d.seed, d.named(key), shown[key], wanted[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shown)) {
		if _, is := wanted[key]; !is {
			t.Errorf("seed %d: %s\n   says %q, of which nothing is to be said", d.seed, d.named(key), shown[key])
		}
	}
}

// named has the names of Macs for their ids.
func (d *drawnCluster) named(key string) string {
	for _, n := range d.list.Nodes {
		key = strings.ReplaceAll(key, string(n.Node), n.ShortName)
	}
	return key
}
