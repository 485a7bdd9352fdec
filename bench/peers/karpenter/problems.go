package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	nodepoolutils "sigs.k8s.io/karpenter/pkg/utils/nodepool"
)

// problem is a small cluster with pods that wait.
type problem struct {
	Pools      []*v1.NodePool            `json:"pools"`
	Types      map[string][]instanceType `json:"types"`
	Namespaces []*corev1.Namespace       `json:"namespaces"`
	Nodes      []*corev1.Node            `json:"nodes"`
	Running    []*corev1.Pod             `json:"running"`
	Daemons    []*corev1.Pod             `json:"daemons"`
	Pods       []*corev1.Pod             `json:"pods"`
	// Volumes has the alternatives of a pod's volumes, by its UID.
	Volumes map[types.UID][][]corev1.NodeSelectorRequirement `json:"volumes"`
}

// plan is what Karpenter would do about a problem; pods are named by their UID.
type plan struct {
	Claims   []plannedClaim         `json:"claims"`
	Existing map[string][]types.UID `json:"existing"`
	Left     map[types.UID]string   `json:"left"`
	Failure  string                 `json:"failure,omitempty"`
}

type plannedClaim struct {
	Pool         string                                    `json:"pool"`
	Pods         []types.UID                               `json:"pods"`
	Requirements []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	InstanceType string                                    `json:"instanceType"`
	Zone         string                                    `json:"zone"`
	CapacityType string                                    `json:"capacityType"`
	Price        float64                                   `json:"price"`
}

// solveProblems answers problems, one a line, until the input ends.
func solveProblems(ctx context.Context, in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var asked problem
		if err := decoder.Decode(&asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a problem, %w", err)
		}
		if err := encoder.Encode(planFor(ctx, asked)); err != nil {
			return fmt.Errorf("writing a plan, %w", err)
		}
	}
}

// planFor reports a panic of Karpenter's as the plan's failure: the other problems must still be answered.
func planFor(ctx context.Context, asked problem) (planned *plan) {
	defer func() {
		if cause := recover(); cause != nil {
			planned = &plan{Failure: fmt.Sprint("panic: ", cause)}
		}
	}()
	results, err := schedule(ctx, asked)
	if err != nil {
		return &plan{Failure: err.Error()}
	}
	planned = &plan{Existing: map[string][]types.UID{}, Left: map[types.UID]string{}}
	for _, claim := range results.NewNodeClaims {
		described, err := describe(claim)
		if err != nil {
			return &plan{Failure: err.Error()}
		}
		planned.Claims = append(planned.Claims, described)
	}
	for _, node := range results.ExistingNodes {
		if len(node.Pods) > 0 {
			planned.Existing[node.Name()] = uids(node.Pods)
		}
	}
	for pod, failure := range results.PodErrors {
		planned.Left[pod.UID] = failure.Error()
	}
	return planned
}

func schedule(ctx context.Context, asked problem) (scheduling.Results, error) {
	objects := make([]client.Object, 0, len(asked.Running)+len(asked.Nodes)+len(asked.Namespaces))
	for _, namespace := range asked.Namespaces {
		objects = append(objects, namespace)
	}
	for _, node := range asked.Nodes {
		objects = append(objects, node)
	}
	for _, pod := range append(slices.Clone(asked.Running), asked.Pods...) {
		objects = append(objects, pod)
	}
	kube := fakeclient.NewClientBuilder().WithObjects(objects...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(object client.Object) []string {
			return []string{object.(*corev1.Pod).Spec.NodeName}
		}).Build()
	realClock := &clock.RealClock{}
	provider := fake.NewCloudProvider()
	cluster := state.NewCluster(realClock, kube, provider)
	for _, node := range asked.Nodes {
		if err := cluster.UpdateNode(ctx, node.DeepCopy()); err != nil {
			return scheduling.Results{}, fmt.Errorf("adding node %s, %w", node.Name, err)
		}
	}
	for _, pod := range asked.Running {
		if err := cluster.UpdatePod(ctx, pod); err != nil {
			return scheduling.Results{}, fmt.Errorf("adding pod %s, %w", pod.Name, err)
		}
	}
	nodepoolutils.OrderByWeight(asked.Pools)
	catalogues := map[string][]*cloudprovider.InstanceType{}
	for _, pool := range asked.Pools {
		for _, listed := range asked.Types[pool.Name] {
			catalogues[pool.Name] = append(catalogues[pool.Name], listed.build())
		}
	}
	volumes := map[types.UID][]requirements.Requirements{}
	for uid, alternatives := range asked.Volumes {
		for _, terms := range alternatives {
			volumes[uid] = append(volumes[uid], requirements.NewNodeSelectorRequirements(terms...))
		}
	}
	options := []scheduling.Options{
		scheduling.DisableReservedCapacityFallback,
		scheduling.NumConcurrentReconciles(1),
		scheduling.IgnorePreferences,
	}
	nodes := cluster.DeepCopyNodes()
	topology, err := scheduling.NewTopology(ctx, kube, cluster, nodes, asked.Pools, catalogues, asked.Pods, options...)
	if err != nil {
		return scheduling.Results{}, fmt.Errorf("building the topology, %w", err)
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	scheduler := scheduling.NewScheduler(ctx, kube, asked.Pools, cluster, nodes, topology, catalogues, asked.Daemons, recorder,
		realClock, volumes, nil, options...)
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return scheduler.Solve(limited, asked.Pods)
}

// describe names the offering that the cloud would launch: the cheapest that the claim allows.
func describe(claim *scheduling.NodeClaim) (plannedClaim, error) {
	allowed := cloudprovider.InstanceTypes(claim.InstanceTypeOptions).OrderByPrice(claim.Requirements)
	if len(allowed) == 0 {
		return plannedClaim{}, fmt.Errorf("a claim for %d pods allows no instance type", len(claim.Pods))
	}
	offering := allowed[0].Offerings.Available().Compatible(claim.Requirements).Cheapest()
	described := plannedClaim{
		Pool:         claim.NodePoolName,
		Pods:         uids(claim.Pods),
		InstanceType: allowed[0].Name,
		Zone:         offering.Zone(),
		CapacityType: offering.CapacityType(),
		Price:        offering.Price,
	}
	for _, requirement := range claim.Requirements.NodeSelectorRequirements() {
		if requirement.Key != corev1.LabelHostname {
			described.Requirements = append(described.Requirements, requirement)
		}
	}
	slices.SortFunc(described.Requirements, func(one, other v1.NodeSelectorRequirementWithMinValues) int {
		return cmp.Compare(one.Key, other.Key)
	})
	return described, nil
}

func uids(pods []*corev1.Pod) []types.UID {
	named := make([]types.UID, 0, len(pods))
	for _, pod := range pods {
		named = append(named, pod.UID)
	}
	return named
}

// answersProblems tells whether the program was started to answer problems instead of one question.
func answersProblems() bool {
	return len(os.Args) == 2 && os.Args[1] == "problems"
}
