package cast

import (
	"fulmen/daemon/api"
)

// Rank is the rank that is asked about.
func (w *World) Rank() api.RankRef { return api.RankRef{Job: w.Spec.Job, Attempt: attempt} }

// By is who speaks: each node's account of the cast's name, of whom the submitter's
// submitted the job.
func (w *World) By() api.Principal { return api.Principal{User: w.Cast.User, Node: w.From()} }

// reader is who wants models: with what is forged, somebody of another node.
func (w *World) reader() api.Principal {
	by := w.By()
	if w.Subject == "forged" {
		by.Node = w.Cast.Node("other")
	}
	return by
}

func (w *World) model() *api.PeerModel {
	return &api.PeerModel{By: w.reader(), Model: api.ModelSelect{Model: string(w.Spec.Job)}}
}

// RequestKind is a person's request about the job.
func (w *World) RequestKind(request api.JobRequestKind) api.PeerJobParams {
	return api.PeerJobParams{RequestKind: request, Job: w.Spec.Job, By: w.By()}
}

// Sends are what the caller sends to the routes that are methods, by their row's name.
// Methods of any member are left out: for them it does not matter.
var Sends = map[string]func(*World) any{
	"peer.preflight": func(w *World) any { return api.PeerPreflightParams{Warrant: w.warrant(), Epoch: w.claims()} },
	"peer.grant": func(w *World) any {
		return api.PeerGrantParams{PeerHolderParams: w.holder(), GPU: api.GPUNone}
	},
	"peer.release": func(w *World) any { return w.holder() },
	"peer.listen": func(w *World) any {
		return api.PeerListenParams{Warrant: w.warrant(), Rank: w.Rank(), Epoch: w.claims()}
	},
	"peer.start": func(w *World) any {
		return api.PeerStartParams{Warrant: w.warrant(), Rank: w.Rank(), Epoch: w.claims()}
	},
	"peer.spawn": func(w *World) any {
		return api.PeerSpawnParams{Warrant: w.warrant(), Rank: w.Rank(), Epoch: w.claims()}
	},
	"peer.renew": func(w *World) any {
		return api.PeerRenewParams{Warrant: w.warrant(), Job: w.Spec.Job, Attempt: attempt, Epoch: w.claims()}
	},
	"peer.end": func(w *World) any {
		return api.PeerEndParams{Warrant: w.warrant(), Job: w.Spec.Job, Attempt: attempt, Epoch: w.claims()}
	},
	"peer.job/submit": (*World).handOver,
	"peer.job/stop":   func(w *World) any { return w.RequestKind(api.RequestStop) },
	"peer.job/delete": func(w *World) any { return w.RequestKind(api.RequestDelete) },
	"peer.job/values": func(w *World) any {
		p := w.RequestKind(api.RequestValues)
		p.Homes = w.Homes
		if w.Subject == "forged" {
			p.Homes = append(p.Homes[:len(p.Homes):len(p.Homes)], w.forgedStep())
		}
		return p
	},
	"peer.vote":   (*World).askVote,
	"peer.resize": func(w *World) any { return api.PeerResizeParams{Rank: w.Rank(), By: w.By()} },
	"peer.models": func(w *World) any { return api.PeerModelsParams{By: w.reader()} },
	"peer.rdma": func(w *World) any {
		return api.PeerRDMAParams{Step: api.RDMAPlan, Link: w.cable(), By: w.By()}
	},
	"peer.probe": func(w *World) any {
		return api.PeerProbeParams{Step: api.ProbeHold, Link: w.cable(), Measurement: "m4k2m9xq7"}
	},
}

// Firsts are what the caller says first to the routes that are connections, by their
// row's name.
var Firsts = map[string]func(*World) api.PeerConn{
	"stream":       func(*World) api.PeerConn { return api.PeerConn{} },
	"side_channel": func(*World) api.PeerConn { return api.PeerConn{} },
	"files": func(w *World) api.PeerConn {
		epoch := w.Known.Job.Epoch
		switch w.Subject {
		case "stale":
			epoch = w.Epoch
		case "forged":
			epoch += 7
		}
		return api.PeerConn{Job: w.Spec.Job, Epoch: epoch}
	},
	"output": func(w *World) api.PeerConn {
		return api.PeerConn{Rank: w.Rank(), Output: &api.PeerOutput{By: w.By()}}
	},
	"input": func(w *World) api.PeerConn {
		return api.PeerConn{Rank: w.Rank(), Input: &api.PeerInput{By: w.By()}}
	},
	"model": func(w *World) api.PeerConn { return api.PeerConn{Model: w.model()} },
	"model_copy": func(w *World) api.PeerConn {
		return api.PeerConn{Copy: &api.PeerModelCopy{PeerModel: *w.model(), From: w.Cast.Node("other")}}
	},
	"publish": func(w *World) api.PeerConn { return api.PeerConn{Rank: w.Rank()} },
}

func (w *World) warrant() api.Warrant {
	return api.Warrant{Spec: w.Raw, SpecSig: w.Sig, Homes: w.Homes}
}

// claims is the epoch of the home that the caller says it is.
func (w *World) claims() uint64 {
	if w.Subject == "forged" {
		return w.Epoch + 7
	}
	return w.Epoch
}

func (w *World) holder() api.PeerHolderParams {
	warrant := w.warrant()
	return api.PeerHolderParams{Holder: w.Rank().String(), Epoch: w.claims(), Warrant: &warrant}
}

// cable is the one that leads from this node to the node of that name.
func (w *World) cable() api.LinkID {
	if w.Cast.Cable.Valid() {
		return w.Cast.Cable
	}
	return w.Cast.Link(w.Self, "cable")
}

// handOver offers the caller's job to this node.
func (w *World) handOver() any {
	p := w.RequestKind(api.RequestSubmit)
	p.By = w.Spec.Principal
	job := w.Job()
	if w.Subject == "forged" {
		job.Homes = append(job.Homes[:len(job.Homes):len(job.Homes)], w.forgedStep())
		job.Epoch = w.forgedStep().Epoch
	}
	offer := job.StepTo(w.Cast.ID, w.Spec.Job, w.Cast.Node(w.Self), job.Epoch+1).Offer(w.Key())
	p.Handed, p.Offer = &job, &offer
	return p
}

// askVote asks to take the place of the home to which the caller's steps lead.
func (w *World) askVote() any {
	p := api.PeerVoteParams{Job: w.Spec.Job, From: w.Spec.Home, FromEpoch: 1}
	p.Warrant = api.Warrant{Spec: w.Raw, SpecSig: w.Sig}
	if len(w.Homes) > 0 && w.Subject != "another" {
		p.Homes, p.From, p.FromEpoch = w.Homes, w.From(), w.Epoch
	}
	if w.Subject == "forged" {
		p.FromEpoch += 7
	}
	p.Epoch = api.NextTerm(p.FromEpoch)
	return p
}
