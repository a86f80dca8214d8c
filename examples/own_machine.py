"""Write your own machine, combine it with a built-in environment, and look at the best policy.

A courier in the 4 × 4 warehouse works in rounds: item, delivery, and again. A delivery has reward 1 when someone is
there to sign for it (9 times out of 10) and 0.5 when the parcel is left at the door.
"""

from praemia import MachineBuilder, envs, occupancy, save_task, solve
from praemia.files.lint import lint

machine = (
    MachineBuilder(initial="empty")
    .edge("empty", "item", "loaded")
    .edge("loaded", "delivery", "empty", probability=0.9, reward=1)
    .edge("loaded", "delivery", "empty", probability=0.1, reward=0.5)  # two edges, each with its own reward
    .build()
)
task = envs.warehouse(size=4, horizon=40).with_machine(machine)

if __name__ == "__main__":
    print(task.machine.draw())
    for finding in lint(task):
        print(finding)

    plan = solve(task)
    print(f"the best courier earns {plan.value:.3f} per episode of {task.horizon} steps")

    visits = occupancy(task, plan.policy).pairs.sum(axis=1)
    print("expected visits to each cell:")
    print(visits.reshape(4, 4).round(1))

    save_task(task, "courier.yaml")
    print("wrote courier.yaml; try: praemia run courier.yaml --episodes 2000")
