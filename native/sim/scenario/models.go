package scenario

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"

	"fulmen/native/tomltext"
)

// modelsText lists Macs that scenarios can be made of, with what is publicly
// known of each.
//
//go:embed models.toml
var modelsText string

// models returns the keys of every known Mac by the name that "like" gives it.
// Its text is a part of the program, checked by a test.
func models() map[string]map[string]any {
	var list struct{ Model []map[string]any }
	if _, err := toml.Decode(modelsText, &list); err != nil {
		panic("scenario: models.toml: " + err.Error())
	}
	byName := map[string]map[string]any{}
	for _, model := range list.Model {
		name, _ := model["like"].(string)
		byName[name] = model
	}
	return byName
}

// applyModel gives the Mac's table what its model has. The model's ports and
// interfaces are merged one by one, see [table.merged].
func (t *table) applyModel(known map[string]map[string]any) {
	like := t.text("like")
	if like == "" {
		return
	}
	if t.base = known[like]; t.base == nil {
		all := slices.Sorted(maps.Keys(known))
		t.fail("like", "like = %q is not a known Mac%s; it is one of %q", like, didYouMean(like, all), all)
	}
}

// merged returns the sub-tables of the key, those of the model first, each
// overlaid by the file's of the same identifying key.
func (t *table) merged(key, label, by string) []*table {
	own := []*table{}
	if _, written := t.values[key]; written {
		own = t.tables(key, label)
	}
	t.asked[key] = true
	for _, table := range own {
		t.problems.alias(member(tomltext.Join(t.path, key), table.values[by]), table.path)
	}
	var all []*table
	for _, base := range asTables(t.base[key]) {
		path := t.path // a problem with a model's part shows the Mac's line
		merged := newTable(path, t.prefix()+label, map[string]any{}, t.problems)
		if i := slices.IndexFunc(own, func(o *table) bool { return o.values[by] == base[by] }); i >= 0 {
			merged = own[i]
			own = slices.Delete(own, i, i+1)
		}
		merged.base = base
		all = append(all, merged)
	}
	return append(all, own...)
}
