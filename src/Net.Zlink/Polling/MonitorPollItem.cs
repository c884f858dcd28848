using Net.Zlink.Flow;
using Net.Zlink.Monitoring;

namespace Net.Zlink;

internal sealed class MonitorPollItem(SocketMonitor monitor, object? state) : PollItem(PollEvents.In)
{
    public override PollResult ResultOf(PollEvents ready) => new(null, null, ready, state) { Monitor = monitor };

    public override PollItem With(PollEvents other) => this;

    public override PollEvents Check() => monitor.HasEvents ? PollEvents.In : PollEvents.None;

    public override void Watch(IReadinessWatcher watcher) => monitor.Watchers.Add(watcher);

    public override void Unwatch(IReadinessWatcher watcher) => monitor.Watchers.Remove(watcher);
}
