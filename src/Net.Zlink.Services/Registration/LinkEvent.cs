namespace Net.Zlink.Services;

/// <summary>What happened to a link.</summary>
internal enum LinkEventType
{
    Ready,
    Lost,

    /// <summary>An attempt to connect failed; the socket goes on trying.</summary>
    Failed,
    Ack,
    Tick,
    Add,
    UpdateWeight,
    Remove,
    Close,
}

/// <summary>One thing that happened to a link, for its loop.</summary>
/// <param name="Type">What.</param>
/// <param name="Connection">Of events of a connection: its number.</param>
/// <param name="Status">Of an answer.</param>
/// <param name="Text">Of an answer or a loss.</param>
/// <param name="Registration">Of what the application wants: whose.</param>
/// <param name="Done">Completed when the loop has dealt with it.</param>
internal readonly record struct LinkEvent(
    LinkEventType Type, int Connection = 0, byte Status = 0, string Text = "", Registration? Registration = null,
    TaskCompletionSource? Done = null);
