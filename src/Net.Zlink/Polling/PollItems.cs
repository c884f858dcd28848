namespace Net.Zlink;

internal sealed class PollItems(PollItem[] all)
{
    public PollItem[] All => all;

    public PollItem[] Plain { get; } = Array.FindAll(all, static item => item.Plain is not null && item.Events != PollEvents.None);
}
