namespace Net.Zlink.Services;

/// <summary>What a link wants done.</summary>
internal enum LinkAction
{
    /// <summary>Make a new connection; the number names it.</summary>
    Connect,

    /// <summary>End the present connection; what comes by it afterwards does not count.</summary>
    Disconnect,

    /// <summary>Send one message about an entry.</summary>
    Send,

    /// <summary>Log that registrations stay unanswered.</summary>
    Warn,
}

/// <summary>One thing that a link wants done, in order.</summary>
/// <param name="Action">What.</param>
/// <param name="MessageId">Of <see cref="LinkAction.Send"/>: which message.</param>
/// <param name="Entry">Of <see cref="LinkAction.Send"/>: about which entry.</param>
/// <param name="Weight">Of a REGISTER or UPDATE_WEIGHT.</param>
internal readonly record struct LinkCommand(LinkAction Action, ushort MessageId = 0, LinkEntry? Entry = null, uint Weight = 0);
