using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Services;

/// <summary>What is listed under a service name. The numbers are those of the wire.</summary>
[SuppressMessage("Design", "CA1028", Justification = "The wire has 16 bits for it.")]
public enum ServiceKind : ushort
{
    /// <summary>Nothing; no registry lists it.</summary>
    None = 0,

    /// <summary>Receivers, which gateways send to.</summary>
    Receiver = 1,

    /// <summary>SPOT nodes.</summary>
    SpotNode = 2,
}
