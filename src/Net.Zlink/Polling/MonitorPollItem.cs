using Net.Zlink.Flow;
using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>A monitor of a poller: ready while it has unread events. After its last event it is never ready.</summary>
internal sealed class MonitorPollItem(SocketMonitor monitor, object? state) : PollItem(PollEvents.In)
{
    public override PollResult ResultOf(PollEvents ready) => new(null, null, ready, state) { Monitor = monitor };

    public override PollItem With(PollEvents other) => this; // A monitor has only one event to wait for.

    public override PollEvents Check() => monitor.HasEvents ? PollEvents.In : PollEvents.None;

    public override void Watch(IReadinessWatcher watcher) => monitor.Watchers.Add(watcher);

    public override void Unwatch(IReadinessWatcher watcher) => monitor.Watchers.Remove(watcher);
}
