namespace Net.Zlink.Sockets.Links;

/// <summary>A limit that several connections share.</summary>
internal interface IReadLimit
{
    bool MayRead();

    /// <summary>About how many connections may read now, at least 1 if one may.</summary>
    long FreeReads { get; }
}
