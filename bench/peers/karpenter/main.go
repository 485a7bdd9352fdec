// Command karpenter feeds Karpenter's own scheduler a catalogue and pods, and says what it would buy. It reads one question
// as JSON from standard input and writes one answer as JSON; with the argument "problems" it answers many small clusters.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// concurrency is what Karpenter's own benchmark uses.
const concurrency = 5

type question struct {
	InstanceTypes []instanceType `json:"instanceTypes"`
	// Requirements of the one NodePool.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
	// PreferencePolicy is Respect or Ignore.
	PreferencePolicy string        `json:"preferencePolicy"`
	Pods             []*corev1.Pod `json:"pods"`
}

type instanceType struct {
	Name         string                           `json:"name"`
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
	Capacity     corev1.ResourceList              `json:"capacity"`
	Allocatable  corev1.ResourceList              `json:"allocatable"`
	Offerings    []offering                       `json:"offerings"`
}

type offering struct {
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
	Price        float64                          `json:"price"`
	Available    bool                             `json:"available"`
}

type answer struct {
	Nodes        int     `json:"nodes"`
	PricePerHour float64 `json:"pricePerHour"`
	Placed       int     `json:"placed"`
	Unplaced     int     `json:"unplaced"`
	SetupMillis  float64 `json:"setupMillis"`
	SolveMillis  float64 `json:"solveMillis"`
	// CPUMillis is what all threads together computed during the solve.
	CPUMillis     float64 `json:"cpuMillis"`
	MemoryMiB     float64 `json:"memoryMiB"`
	FirstFailure  string  `json:"firstFailure,omitempty"`
	LargestOnNode int     `json:"largestOnNode"`
}

func main() {
	log.SetLogger(logging.NopLogger)
	if answersProblems() {
		if err := solveProblems(withOptions(), os.Stdin, os.Stdout); err != nil {
			fail(err)
		}
		return
	}
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(fmt.Errorf("reading the question, %w", err))
	}
	answered, err := solve(asked)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answered); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func withOptions() context.Context {
	return options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), &options.Options{
		PreferencePolicy:  options.PreferencePolicyRespect,
		MinValuesPolicy:   options.MinValuesPolicyStrict,
		BatchMaxDuration:  10 * time.Second,
		BatchIdleDuration: time.Second,
		IgnoreDRARequests: true,
		FeatureGates:      options.FeatureGates{ReservedCapacity: true},
	})
}

func solve(asked question) (*answer, error) {
	ctx := withOptions()
	for i, pod := range asked.Pods {
		// The scheduler keeps what it knows of a pod by UID.
		pod.UID = types.UID(fmt.Sprintf("pod-%d", i))
	}
	started := time.Now()
	scheduler, err := newScheduler(ctx, asked)
	if err != nil {
		return nil, err
	}
	ready := time.Now()
	computed := cpuMillis()
	results, err := scheduler.Solve(ctx, asked.Pods)
	if err != nil {
		return nil, fmt.Errorf("solving, %w", err)
	}
	solved := time.Now()
	answered := &answer{
		Nodes:       len(results.NewNodeClaims),
		Unplaced:    len(results.PodErrors),
		SetupMillis: ready.Sub(started).Seconds() * 1000,
		SolveMillis: solved.Sub(ready).Seconds() * 1000,
		CPUMillis:   cpuMillis() - computed,
		MemoryMiB:   memoryMiB(),
	}
	for _, failure := range results.PodErrors {
		answered.FirstFailure = failure.Error()
		break
	}
	for _, claim := range results.NewNodeClaims {
		answered.Placed += len(claim.Pods)
		answered.LargestOnNode = max(answered.LargestOnNode, len(claim.Pods))
		price, err := cheapest(claim)
		if err != nil {
			return nil, err
		}
		answered.PricePerHour += price
	}
	return answered, nil
}

// cheapest is what the cloud would launch: the cheapest offering that the claim allows.
func cheapest(claim *scheduling.NodeClaim) (float64, error) {
	options := cloudprovider.InstanceTypes(claim.InstanceTypeOptions).OrderByPrice(claim.Requirements)
	if len(options) == 0 {
		return 0, fmt.Errorf("a claim for %d pods allows no instance type", len(claim.Pods))
	}
	return options[0].Offerings.Available().Compatible(claim.Requirements).Cheapest().Price, nil
}

func newScheduler(ctx context.Context, asked question) (*scheduling.Scheduler, error) {
	opts := []scheduling.Options{scheduling.NumConcurrentReconciles(concurrency)}
	if asked.PreferencePolicy == "Ignore" {
		opts = append(opts, scheduling.IgnorePreferences)
	}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.azure.com", Kind: "AKSNodeClass", Name: "default"}
	for _, requirement := range asked.Requirements {
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements,
			v1.NodeSelectorRequirementWithMinValues{Key: requirement.Key, Operator: requirement.Operator, Values: requirement.Values})
	}
	catalogue := make([]*cloudprovider.InstanceType, 0, len(asked.InstanceTypes))
	for _, listed := range asked.InstanceTypes {
		catalogue = append(catalogue, listed.build())
	}
	pools := []*v1.NodePool{pool}
	byPool := map[string][]*cloudprovider.InstanceType{pool.Name: catalogue}
	client := fakeclient.NewFakeClient()
	realClock := &clock.RealClock{}
	provider := fake.NewCloudProvider()
	provider.InstanceTypes = catalogue
	cluster := state.NewCluster(realClock, client, provider)
	topology, err := scheduling.NewTopology(ctx, client, cluster, nil, pools, byPool, asked.Pods, opts...)
	if err != nil {
		return nil, fmt.Errorf("building the topology, %w", err)
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	return scheduling.NewScheduler(ctx, client, pools, cluster, nil, topology, byPool, nil, recorder, realClock, nil, nil, opts...), nil
}

func (listed instanceType) build() *cloudprovider.InstanceType {
	built := &cloudprovider.InstanceType{
		Name:         listed.Name,
		Requirements: requirements.NewNodeSelectorRequirements(listed.Requirements...),
		Capacity:     listed.Capacity,
		Overhead: &cloudprovider.InstanceTypeOverhead{
			KubeReserved: resources.Subtract(listed.Capacity, listed.Allocatable),
		},
	}
	// As every provider does at start: pods and pools may be silent about what instance types describe.
	for key := range built.Requirements {
		v1.WellKnownLabels.Insert(key)
	}
	for _, offered := range listed.Offerings {
		built.Offerings = append(built.Offerings, &cloudprovider.Offering{
			Requirements: requirements.NewNodeSelectorRequirements(offered.Requirements...),
			Price:        offered.Price,
			Available:    offered.Available,
		})
	}
	return built
}

func cpuMillis() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(fmt.Errorf("reading processor time, %w", err))
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

func memoryMiB() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.Sys) / (1 << 20)
}
