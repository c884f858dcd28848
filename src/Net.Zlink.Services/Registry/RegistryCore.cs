using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>What a list says at one moment; <paramref name="Own"/> where own entries are sent apart. <paramref name="Removals"/> is the
/// frame behind either, if it is not empty. <paramref name="ByteCount"/> is at least that of both.</summary>
internal readonly record struct RegistryLists(
    ulong Sequence, ListedService[] All, ListedService[]? Own, byte[] Removals, long ByteCount);

/// <summary>
/// The state of a registry behind its lock, with the clock and the events. Safe for any number of threads; no callback runs under the lock.
/// </summary>
internal sealed class RegistryCore(RegistryState state, TimeProvider clock, Watchers<RegistryEvent> watchers, ILogger logger)
{
    private readonly Lock _gate = new();
    private readonly long _started = clock.GetTimestamp();
    private bool _sendsPairs;

    public uint Id => state.Id;

    /// <summary>The time since the start.</summary>
    public TimeSpan Now => clock.GetElapsedTime(_started);

    /// <summary>Whether each list goes out twice: own entries, then all.</summary>
    public bool SendsPairs
    {
        get => Volatile.Read(ref _sendsPairs);
        set => Volatile.Write(ref _sendsPairs, value);
    }

    public ulong Sequence => Do(static (state, _) => state.Sequence);

    public RegistryLists GetLists(bool renumber = false) => Do((state, now) =>
    {
        if (renumber)
        {
            state.RenumberList();
        }

        bool isPair = SendsPairs;
        byte[] removals = state.RemovalsAt(now);
        return new RegistryLists(state.Sequence, state.All, isPair ? state.Own : null, removals,
            (state.ByteCount + removals.Length) * (isPair ? 2 : 1));
    });

    public void Do(Action<RegistryState, TimeSpan> action) => Do((state, now) =>
    {
        action(state, now);
        return true;
    });

    /// <summary>Asks or changes the state under the lock. Readers get events in order, and none of their code runs there; the log is
    /// written behind it.</summary>
    public T Do<T>(Func<RegistryState, TimeSpan, T> function)
    {
        T result;
        RegistryEvent[] events;
        lock (_gate)
        {
            result = function(state, Now);
            events = state.DequeueEvents();
            Array.ForEach(events, watchers.Publish);
        }

        Array.ForEach(events, Log);
        return result;
    }

    private void Log(RegistryEvent one)
    {
        (string service, string endpoint) = (one.Instance?.Service ?? "", one.Instance?.Endpoint ?? "");
        switch (one.Type)
        {
            case RegistryEventType.Refused:
                ServicesLog.EntryRefused(logger, Id, service, endpoint, one.Text);
                break;
            case RegistryEventType.Expired:
                ServicesLog.EntryExpired(logger, Id, service, endpoint, one.Text);
                break;
            case RegistryEventType.PeerUp:
                ServicesLog.PeerUp(logger, Id, one.RegistryId, one.Text);
                break;
            case RegistryEventType.PeerDown:
                ServicesLog.PeerDown(logger, Id, one.RegistryId, one.Text);
                break;
            case RegistryEventType.ListFull:
                ServicesLog.EntriesLeftOut(logger, Id, one.RegistryId);
                break;
            case RegistryEventType.IdConflict:
                ServicesLog.RegistryIdConflict(logger, Id, one.Text);
                break;
            default:
                ServicesLog.EntryChanged(logger, Id, one.Type, service, endpoint, one.Instance?.Weight ?? 0, one.RegistryId);
                break;
        }
    }
}
