namespace Net.Zlink;

/// <summary>The items of a poller, and its plain sockets with events. Immutable.</summary>
internal sealed class PollItems(PollItem[] all)
{
    public PollItem[] All => all;

    public PollItem[] Plain { get; } = Array.FindAll(all, static item => item.Plain is not null && item.Events != PollEvents.None);
}
