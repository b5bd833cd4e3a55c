package show

import (
	"time"

	"fulmen/daemon/api"
)

// models are those of a Mac: one whole, one of which files lack, one whose files are broken, and
// names that would steer a terminal.
func models() api.ModelListResult {
	return api.ModelListResult{
		Account: "ada",
		Models: []api.Model{
			modelShown().Model,
			{
				Model: "mlx-community/Qwen3-235B-A22B-8bit", Revision: "5b0c7a8d1e2f30415263748596a7b8c9d0e1f203", Source: api.ModelHub, FileCount: 11, SizeBytes: 52 << 30,
				PartialBytes: 3 << 30, Complete: ptr(false), Missing: []string{"model-00012-of-00051.safetensors"}, MissingCount: 40, ModelType: "qwen3_moe",
				Quantization: &api.Quantization{Bits: 8, GroupSize: 64}, WeightsBytes: ptr(int64(250 << 30)), WeightsFrom: api.WeightsIndex, ModifiedAt: before(2 * time.Minute),
			},
			{
				Model: "tuned\x1b[2J", Source: api.ModelPlain, FileCount: 2, SizeBytes: 1 << 30, ModifiedAt: before(time.Hour),
				Unknown: map[string]api.Reason{"architecture": api.ReasonSourceMalformed, "complete": api.ReasonSourceMalformed, "weights_bytes": api.ReasonSourceMalformed},
			},
		},
		LeftOut: 2,
		Folders: []api.ModelFolder{
			{Path: "/Users/ada/.cache/huggingface/hub", Source: api.ModelHub, Followed: true, Refused: []string{"models--a--b/snapshots/x/secret\x1b[1m"}},
			{Path: "/Volumes/Models", Source: api.ModelPlain, Error: api.Errorf(api.ReasonPermissionDenied, "/Volumes/Models", "/Volumes/Models cannot be read whole: operation not permitted.").
				WithRemedy("Allow Fulmen to read it: System Settings, Privacy & Security, Full Disk Access. Then: fulmen restart")},
		},
	}
}

// modelShown is the one that is whole.
func modelShown() api.ModelShowResult {
	const revision = "08231374eeacb049a0eade7922910865b8fce912"
	return api.ModelShowResult{
		Account: "ada",
		Model: api.Model{
			Model: "mlx-community/Llama-3.2-1B-Instruct-4bit", Revision: revision, Refs: []string{"main"}, Source: api.ModelHub,
			Path:      "/Users/ada/.cache/huggingface/hub/models--mlx-community--Llama-3.2-1B-Instruct-4bit/snapshots/" + revision,
			FileCount: 3, SizeBytes: 712 << 20, Complete: ptr(true), Architecture: "LlamaForCausalLM", ModelType: "llama",
			Quantization: &api.Quantization{Bits: 4, GroupSize: 64, Mode: "affine"}, WeightsBytes: ptr(int64(695 << 20)), WeightsFrom: api.WeightsIndex,
			Parameters: ptr(int64(1235814400)), ModifiedAt: before(3 * 24 * time.Hour),
		},
		Files: []api.ModelFile{
			{Path: "config.json", SizeBytes: 1100, GitSHA1: "e0f1d2c3b4a5968778695a4b3c2d1e0f10213243"},
			{Path: "model.safetensors", SizeBytes: 695 << 20, SHA256: "aa0b1c2d3e4f5061728394a5b6c7d8e9f00112233445566778899aabbccddeeff"[:64]},
		},
	}
}

// modelsOfCluster are the same where two Macs list theirs and one does not.
func modelsOfCluster() api.ModelClusterResult {
	list := models().Models
	return api.ModelClusterResult{
		Models: []api.ModelOnNodes{
			{Model: list[0], On: []api.ModelOnNode{{Node: studio, Complete: ptr(true)}, {Node: attic, Complete: ptr(true)}}},
			{Model: list[1], On: []api.ModelOnNode{{Node: attic, Complete: ptr(false), MissingCount: 40}}},
			{Model: list[2], On: []api.ModelOnNode{{Node: studio}}},
		},
		Nodes: []api.ModelNodeAnswer{{Node: studio, Account: "ada"}, {Node: attic, Account: "ada"}, {Node: cellar, Error: api.NewError(api.ReasonModelsNotShared, "ada")}},
	}
}
