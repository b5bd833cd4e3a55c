package model

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/model/transfer"
	"fulmen/daemon/internal/rank/prepare/account"
)

// Public is a model that this daemon had got from Hugging Face without a token, for an account
// that has it: anybody can get it there.
type Public struct {
	// Account is the account's name.
	Account string `json:"account"`
	// Model and Revision are the repository and its commit.
	Model    string `json:"model"`
	Revision string `json:"revision"`
	// Digest is that of its files: see transfer.Digest.
	Digest string `json:"digest"`
}

// maxPublic is how many are remembered; the oldest are forgotten first.
const maxPublic = 1000

// PublicStore keeps them.
type PublicStore interface {
	// Load gives all that are kept.
	Load() ([]Public, error)
	// Save keeps these in their place.
	Save([]Public) error
}

// got notes whether a model that was got is public; what it was before no longer counts.
func (m *Models) got(p Public) {
	m.changePublic(func(all []Public) []Public {
		all = slices.DeleteFunc(all, func(o Public) bool {
			return o.Account == p.Account && o.Model == p.Model && o.Revision == p.Revision
		})
		if p.Digest != "" {
			all = append(all, p)
		}
		return all[max(0, len(all)-maxPublic):]
	})
}

// changePublic changes what is remembered, which counts once it is kept.
func (m *Models) changePublic(change func([]Public) []Public) {
	m.publicly.Lock()
	defer m.publicly.Unlock()
	before, err := m.cfg.Public.Load()
	if err == nil {
		err = m.cfg.Public.Save(change(slices.Clone(before)))
	}
	if err != nil {
		m.cfg.Log.Error("which models are public could not be kept", "err", err)
	}
}

// public are those that are still what they were.
func (m *Models) public(ctx context.Context, isMeant func(Public) bool) (all []Public, models []api.Model) {
	kept, err := m.cfg.Public.Load()
	if err != nil {
		m.cfg.Log.Error("which models are public is not known", "err", err)
	}
	for _, p := range kept {
		if !isMeant(p) {
			continue
		}
		shown, err := m.shown(ctx, p)
		reason := api.AsError(err)
		switch {
		case err == nil && digest(shown) == p.Digest:
			all = append(all, p)
			models = append(models, shown.Model)
		case err == nil || reason.Data.Reason == api.ReasonNoSuchModel:
			m.got(Public{Account: p.Account, Model: p.Model, Revision: p.Revision}) // it has changed, or is gone
		}
	}
	return all, models
}

// shown is a model of an account, as this has it now.
func (m *Models) shown(ctx context.Context, p Public) (api.ModelShowResult, error) {
	who, err := m.cfg.Named(p.Account)
	if err != nil {
		return api.ModelShowResult{}, err
	}
	a, err := m.ask(ctx, who, inventory.Question{Show: &api.ModelSelect{Model: p.Model, Revision: p.Revision}})
	if err != nil || a.Show == nil {
		return api.ModelShowResult{}, errors.Join(err, unanswered(who.Name))
	}
	return *a.Show, nil
}

// digest is that of the files of a model in Hugging Face's cache, where all are listed.
func digest(shown api.ModelShowResult) string {
	if shown.Model.Source != api.ModelHub || shown.Model.FileCount != len(shown.Files) {
		return ""
	}
	var files []transfer.File
	for _, f := range shown.Files {
		files = append(files, transfer.File{Path: f.Path, Size: f.SizeBytes, Hash: f.SHA256 + f.GitSHA1})
	}
	return transfer.Digest(files)
}

// publicList is what members at large get to know: nothing of accounts and folders.
func (m *Models) publicList(ctx context.Context) (list api.ModelListResult) {
	list.Models, list.Folders = []api.Model{}, []api.ModelFolder{}
	_, models := m.public(ctx, func(Public) bool { return true })
	size := 0
	for _, found := range models {
		found.Path = ""
		isListed := slices.ContainsFunc(list.Models, func(o api.Model) bool { return o.Model == found.Model && o.Revision == found.Revision })
		if size += inventory.EncodedSize(found); isListed {
			continue
		}
		if size > inventory.MaxAnswer {
			list.LeftOut++
			continue
		}
		list.Models = append(list.Models, found)
	}
	return list
}

// sendPublic finds the public model that a member at large wants.
func (m *Models) sendPublic(ctx context.Context, sel api.ModelSelect) (who account.Account, task transfer.SendTask, err error) {
	found, models := m.public(ctx, func(p Public) bool { return p.Model == sel.Model })
	for i, p := range found {
		refs := models[i].Refs
		isMain := sel.Revision == "" && (len(found) == 1 || slices.Contains(refs, "main"))
		if isMain || sel.Revision != "" && (strings.HasPrefix(p.Revision, sel.Revision) || slices.Contains(refs, sel.Revision)) {
			if who, err = m.cfg.Named(p.Account); err != nil {
				return who, task, err
			}
			return who, transfer.SendTask{Places: m.places(ctx, who), Model: api.ModelSelect{Model: p.Model, Revision: p.Revision}, Public: p.Digest}, nil
		}
	}
	return who, task, api.NewError(api.ReasonNoSuchModel, strings.TrimSuffix(sel.Model+" "+sel.Revision, " "))
}
