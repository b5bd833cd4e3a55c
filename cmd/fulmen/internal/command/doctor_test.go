package command

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestMLXAndBLASChecks(t *testing.T) {
	is := is.New(t)
	metal := api.Identity{MLXVersion: "0.32.4", MLXDevices: []api.MLXDevice{api.MLXDeviceMetal}}
	cpu := api.Identity{MLXVersion: "0.32.4", MLXDevices: []api.MLXDevice{api.MLXDeviceCPU}}
	with := func(blas string) api.GPUProfile {
		return api.GPUProfile{Conditions: api.MeasureConditions{BLAS: blas}}
	}
	is.Equal(mlxCheck(cpu, nil).Answer, api.AnswerYes)
	is.Equal(mlxCheck(api.Identity{}, map[string]api.Reason{"mlx_version": api.ReasonMLXMissing}).Answer, api.AnswerNo)
	is.Equal(mlxCheck(api.Identity{}, map[string]api.Reason{"mlx_version": api.ReasonReadFailed}).Answer, api.AnswerUnknown)
	is.Equal(mlxCheck(api.Identity{}, nil).Answer, api.AnswerUnknown) // not learnt yet is no fault
	is.Equal(blasCheck(metal, with("reference")).Answer, api.AnswerYes)
	is.Equal(blasCheck(cpu, with("openblas")).Answer, api.AnswerYes)
	is.Equal(blasCheck(cpu, with("reference")).Reason, api.ReasonBLASSlow)
	is.Equal(blasCheck(cpu, with("")).Remedy, "Measure it with: fulmen measure gpu")
	measured := with("")
	measured.MeasuredAt = api.TimeOf(time.Unix(1, 0))
	is.Equal(blasCheck(cpu, measured).Answer, api.AnswerUnknown)
	is.Equal(blasCheck(cpu, measured).Remedy, "") // that was done already
}

func TestConditionChecks(t *testing.T) {
	is := is.New(t)
	is.Equal(conditionChecks(nil)[0].Answer, api.AnswerYes)
	checks := conditionChecks([]api.NodeCondition{
		{Condition: api.Condition{Code: api.ReasonDiskFull, Severity: api.SeverityError, Text: "Full.", Remedy: "Make room."}},
		{Condition: api.Condition{Code: api.ReasonClockStepped, Severity: api.SeverityInfo}},
	})
	is.Equal(checks[0], api.DoctorCheck{Check: "health", Answer: api.AnswerNo, Reason: api.ReasonDiskFull, Text: "Full.", Remedy: "Make room."})
	is.Equal(checks[1].Answer, api.AnswerYes) // what is worth knowing does not fail
}

func TestSkewCheck(t *testing.T) {
	is := is.New(t)
	is.Equal(skewCheck("1.0.0", "1.0.0", "").Answer, api.AnswerYes)
	is.Equal(skewCheck("1.1.0", "1.0.0", api.ReasonDaemonOlderThanApp).Text, "This program is version 1.1.0 and the daemon 1.0.0.")
}
