namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>What a <see cref="SocketMesh"/> is about, beside messages.</summary>
internal enum MeshSubject
{
    /// <summary>Who comes and goes, and options that change meanwhile.</summary>
    Coming,

    /// <summary>Low high-water marks, and nobody reads before the end.</summary>
    Marks,

    /// <summary>CONFLATE: each way keeps one message, which must be of one part.</summary>
    NewestOnly,

    /// <summary>Several have the same routing id, of whom a ROUTER takes one.</summary>
    SameNames,

    Count,
}
