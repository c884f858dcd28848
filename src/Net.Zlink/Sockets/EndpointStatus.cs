namespace Net.Zlink.Sockets;

/// <summary>One endpoint of a socket, as it stands now.</summary>
/// <param name="Text">With what the system filled in, where it is bound; else as it was given to Connect.</param>
/// <param name="IsBound">It is bound; else this side connects to it.</param>
/// <param name="Problem">What is wrong with it; null: nothing, or its peers say it.</param>
internal readonly record struct EndpointStatus(string Text, bool IsBound, string? Problem = null)
{
    /// <summary>The texts of those that are bound, or of those that are not.</summary>
    public static IReadOnlyList<string> TextsOf(EndpointStatus[] all, bool areBound) =>
        [.. all.Where(one => one.IsBound == areBound).Select(static one => one.Text)];
}
