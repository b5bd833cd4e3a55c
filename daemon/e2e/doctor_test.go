package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestDoctor(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	config, err := os.ReadFile(folder + "/" + api.ConfigFile)
	is.NoErr(err)
	is.NoErr(os.WriteFile(folder+"/"+api.ConfigFile, append(config, "[paths]\nworker = \"/nowhere/fulmen-rank\"\n"...), 0o600))
	r := start(t, folder)
	answers := map[string]api.DoctorCheck{}
	for _, check := range call[api.DaemonDoctorResult](t, r.dial(), "daemon.doctor", nil).Checks {
		answers[check.Check] = check
	}
	is.Equal(answers["state"].Answer, api.AnswerYes)
	is.Equal(answers["worker"].Answer, api.AnswerNo)
	is.True(strings.Contains(answers["worker"].Text, "/nowhere/fulmen-rank"))
	is.True(answers["worker"].Remedy != "") // what to do
	is.Equal(answers["trust"].Answer, api.AnswerYes)
	is.True(strings.Contains(answers["trust"].Text, api.EnvHome)) // nothing was looked at, and why
	is.True(answers["events"].Answer != api.AnswerNo)
}
