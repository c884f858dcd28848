namespace Net.Zlink;

/// <summary>The items of a poller, and the plain sockets among them that something is asked of; unchangeable.</summary>
internal sealed class PollItems(PollItem[] all)
{
    public PollItem[] All => all;

    public PollItem[] Plain { get; } = Array.FindAll(all, static item => item.Plain is not null && item.Events != PollEvents.None);
}
