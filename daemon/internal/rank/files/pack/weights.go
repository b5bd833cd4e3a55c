package pack

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
)

// weights is what each folder holds, with all below it.
type weights map[string]*weight

type weight struct {
	files int
	bytes int64
}

// add counts a thing in every folder that it is in.
func (w weights) add(name string, folder bool, bytes int64) {
	if folder {
		w[name] = &weight{}
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		w[dir].files++
		w[dir].bytes += bytes
	}
}

// heaviest names at most three folders that hold most, by a measure. A folder
// that is heavy only because of one in it gives way to that one.
func (w weights) heaviest(measure func(weight) int64) []string {
	below := map[string][]string{}
	for name := range w {
		below[path.Dir(name)] = append(below[path.Dir(name)], name)
	}
	largest := func(names []string) []string {
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(measure(*w[b]), measure(*w[a])), strings.Compare(a, b))
		})
		return names
	}
	var out []string
	for _, name := range largest(slices.Clone(below["."])) {
		for inner := largest(below[name]); len(inner) > 0 && measure(*w[inner[0]])*5 >= measure(*w[name])*4; inner = largest(below[name]) {
			name = inner[0]
		}
		if measure(*w[name]) > 0 && len(out) < 3 {
			out = append(out, name)
		}
	}
	return out
}

// tooLarge is the error of a folder above the limits.
func (w *walker) tooLarge() error {
	measure, what := func(x weight) int64 { return x.bytes }, sizeText
	limit := sizeText(wire.MaxBytes)
	if w.files > wire.MaxFiles {
		measure, what = func(x weight) int64 { return int64(x.files) }, countText
		limit = countText(wire.MaxFiles)
	}
	names := w.weights.heaviest(measure)
	var largest []string
	for _, name := range names {
		largest = append(largest, fmt.Sprintf("%s (%s)", name, what(measure(*w.weights[name]))))
	}
	text := fmt.Sprintf("%s holds more than --sync copies, %s.", w.folder, limit)
	if len(largest) > 0 {
		text += " The largest in it: " + strings.Join(largest, ", ") + "."
	}
	return api.Errorf(api.ReasonSyncTooLarge, append(names, w.folder)[0], "%s", text)
}

func sizeText(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

func countText(files int64) string { return fmt.Sprintf("%d files", files) }
