package show

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Models writes the models of this Mac, or of another one, and what is wrong with the folders.
func (v View) Models(w *Page, list api.ModelListResult, on string) {
	on = cmp.Or(on, "this Mac")
	if len(list.Models) == 0 {
		w.Line("The account " + list.Account + " has no models on " + on + " in the folders that are looked into (models.folders).")
	} else {
		table := v.table("MODEL", "+REVISION", "+SOURCE", "SIZE", "NEEDS", "TYPE", "QUANTIZATION", "ON "+strings.ToUpper(on), "CHANGED")
		table.Less("TYPE", "CHANGED", "QUANTIZATION")
		for _, m := range list.Models {
			table.Row(m.Model, orNone(short(m.Revision)), string(m.Source), text.Bytes(m.SizeBytes), v.needs(m), v.orWhy(m.ModelType, m, "architecture"),
				v.quantization(m), v.completeness(m), ago(v, m.ModifiedAt))
		}
		w.Table(table)
	}
	if list.LeftOut > 0 {
		w.Line(fmt.Sprintf("%d more not shown.", list.LeftOut))
	}
	folders(w, list.Folders)
}

// ModelsOfCluster writes which Mac has which models, one column a Mac that lists its own,
// why others list none, and what is wrong with the folders of this Mac.
func (v View) ModelsOfCluster(w *Page, all api.ModelClusterResult, own []api.ModelFolder, called Names) {
	heading := []string{"MODEL", "+REVISION", "SIZE", "NEEDS", "TYPE", "QUANTIZATION"}
	for _, n := range all.Nodes {
		if n.Error == nil {
			heading = append(heading, called.Of(n.Node))
		}
	}
	table := v.table(heading...)
	table.Less("TYPE", "QUANTIZATION", "NEEDS")
	for _, one := range all.Models {
		m := one.Model
		row := []string{m.Model, orNone(short(m.Revision)), text.Bytes(m.SizeBytes), v.needs(m), v.orWhy(m.ModelType, m, "architecture"), v.quantization(m)}
		for _, n := range all.Nodes {
			if n.Error == nil {
				row = append(row, onNode(one.On, n.Node))
			}
		}
		table.Row(row...)
	}
	if len(all.Models) > 0 {
		w.Table(table)
	} else {
		w.Line("There are no models on these Macs in the folders that are looked into (models.folders).")
	}
	if all.LeftOut > 0 {
		w.Line(fmt.Sprintf("%d more not shown.", all.LeftOut))
	}
	for _, n := range all.Nodes {
		if n.Error != nil {
			words := n.Error.Message
			if info, isKnown := api.LookupReason(n.Error.Data.Reason); isKnown {
				words = info.Text
			}
			w.Line(strings.TrimSpace("Not of " + called.Of(n.Node) + ": " + words + " " + n.Error.Data.Remedy))
		}
	}
	folders(w, own)
}

// onNode says how much of a model a Mac has.
func onNode(on []api.ModelOnNode, node api.NodeID) string {
	i := slices.IndexFunc(on, func(o api.ModelOnNode) bool { return o.Node == node })
	switch {
	case i < 0:
		return none
	case on[i].Complete == nil:
		return orUnknown("")
	case *on[i].Complete:
		return "complete"
	}
	return text.Count(on[i].MissingCount, "file") + " missing"
}

// folders writes what is wrong with the folders.
func folders(w *Page, all []api.ModelFolder) {
	for _, f := range all {
		if f.Error != nil {
			w.Line("")
			w.Line(f.Error.Message)
			w.Line(f.Error.Data.Remedy)
		}
		for _, at := range f.Refused {
			w.Line("Not followed, since it leads out of " + f.Path + ": " + at)
		}
	}
}

// Model writes one model with its files.
func (v View) Model(w *Page, shown api.ModelShowResult) {
	m := shown.Model
	table := text.NewTable()
	row := func(name, value string) {
		if value != "" {
			table.Row(name, value)
		}
	}
	row("model", m.Model)
	row("revision", m.Revision)
	row("names", strings.Join(m.Refs, ", "))
	row("folder", m.Path)
	row("state", v.completeness(m))
	row("missing", strings.Join(m.Missing, ", "))
	row("size", text.Bytes(m.SizeBytes)+" in "+text.Count(m.FileCount, "file"))
	if m.PartialBytes > 0 {
		row("partly fetched", text.Bytes(m.PartialBytes))
	}
	row("needs", join(", ", v.needs(m), weightsFrom(m.WeightsFrom)))
	if m.Parameters != nil {
		row("parameters", strconv.FormatInt(*m.Parameters, 10))
	}
	row("architecture", join(", ", m.Architecture, m.ModelType))
	row("quantization", v.quantization(m))
	row("changed", ago(v, m.ModifiedAt))
	w.Table(table)
	w.Line("")
	files := v.table("FILE", "SIZE", "+HASH")
	for _, f := range shown.Files {
		files.Row(f.Path, text.Bytes(f.SizeBytes), orNone(f.SHA256+f.GitSHA1))
	}
	w.Table(files)
	if m.FileCount > len(shown.Files) {
		w.Line(fmt.Sprintf("%d more not shown.", m.FileCount-len(shown.Files)))
	}
}

// ModelVerified writes what came of a verification; its error is written as any other.
func (v View) ModelVerified(w *Page, m api.Model, p api.ModelProgress) {
	words := text.Count(p.Verified, "file") + " of " + m.Model + " verified, " + text.Bytes(p.DoneBytes)
	if p.Unverified > 0 {
		words += "; no hash is known of " + text.Count(p.Unverified, "file")
	}
	w.Line(words + ".")
}

// ModelCopied writes what came of a copy.
func (v View) ModelCopied(w *Page, model, from, to string, p api.ModelProgress) {
	w.Line(text.Count(p.Verified+p.Unverified, "file") + " of " + model + " copied from " + from + " to " + to + ", " + text.Bytes(p.TotalBytes) + over(p.Over) + ".")
}

// over says by which paths a copy goes; nothing where none is known.
func over(kinds []api.LinkKind) string {
	if len(kinds) == 0 {
		return ""
	}
	var words []string
	what := "cables"
	for _, kind := range kinds {
		if word := kindWord(kind); !slices.Contains(words, word) {
			words = append(words, word)
		}
		if kind == api.LinkWiFi || kind == api.LinkVPN || kind == api.LinkUnknown {
			what = "paths"
		}
	}
	if len(kinds) == 1 {
		return " over " + words[0]
	}
	return fmt.Sprintf(" over %d %s (%s)", len(kinds), what, strings.Join(words, ", "))
}

// ModelRemoved writes what a removal has freed, or would.
func (v View) ModelRemoved(w *Page, r api.ModelRemoveResult, isTrial bool) {
	w.Line(join(" ", r.Model.Model, short(r.Model.Revision)) + choose(isTrial, ": removing it frees ", " was removed, and frees ") + text.Bytes(r.FreedBytes) + ".")
	for _, job := range r.Jobs {
		w.Line("The job " + string(job) + " uses it. Stop it first: fulmen stop " + string(job))
	}
}

// Pace shows how far work is, how fast it goes and how long it takes.
type Pace struct {
	began time.Time
	from  int64
}

// Of is a line about progress at some time.
func (p *Pace) Of(now api.ModelProgress, at time.Time) string {
	if now.Doing != "" {
		return now.Doing
	}
	if p.began.IsZero() {
		p.began, p.from = at, now.DoneBytes
	}
	line := text.Bytes(now.DoneBytes) + " of " + text.Bytes(now.TotalBytes) + " (" + text.Percent(float64(now.DoneBytes)/float64(now.TotalBytes)) + ")" + over(now.Over)
	took, moved := at.Sub(p.began).Seconds(), now.DoneBytes-p.from
	if took < 1 || moved <= 0 {
		return line
	}
	rate := float64(moved) / took
	left := time.Duration(float64(now.TotalBytes-now.DoneBytes) / rate * float64(time.Second))
	return line + ", " + text.BytesPerS(rate) + ", " + text.Duration(left) + " left"
}

func ago(v View, t api.Time) string {
	if t.IsZero() {
		return orUnknown("")
	}
	return text.Ago(v.Now, t.Time)
}

// short is the beginning of a commit, as Git shows it.
func short(revision string) string { return revision[:min(len(revision), 8)] }

// needs is the least memory of a model.
func (v View) needs(m api.Model) string {
	if m.WeightsBytes == nil {
		return v.orWhy("", m, "weights_bytes")
	}
	return text.Bytes(*m.WeightsBytes)
}

// orWhy is a value, or that it is unknown, and why where there is room.
func (v View) orWhy(value string, m api.Model, field string) string {
	if why := m.Unknown[field]; value == "" && why != "" && v.Wide {
		return orUnknown("") + " (" + string(why) + ")"
	}
	return orUnknown(value)
}

func weightsFrom(from api.WeightsFrom) string {
	switch from {
	case api.WeightsIndex:
		return "as the index states"
	case api.WeightsHeaders:
		return "as the files' headers state"
	case api.WeightsFiles:
		return "the files' size"
	}
	return ""
}

func (v View) quantization(m api.Model) string {
	q := m.Quantization
	if q == nil && m.Unknown["architecture"] != "" {
		return v.orWhy("", m, "architecture")
	}
	if q == nil {
		return "none stated"
	}
	bits, group := "", ""
	if q.Bits > 0 {
		bits = strconv.Itoa(q.Bits) + "-bit"
	}
	if q.GroupSize > 0 {
		group = "groups of " + strconv.Itoa(q.GroupSize)
	}
	return join(", ", bits, group, q.Mode)
}

// completeness says whether all of a model is there.
func (v View) completeness(m api.Model) string {
	switch {
	case m.Complete == nil:
		return v.orWhy("", m, "complete")
	case *m.Complete:
		return "complete"
	}
	return text.Count(m.MissingCount, "file") + " missing"
}
