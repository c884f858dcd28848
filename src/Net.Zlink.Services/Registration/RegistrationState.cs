namespace Net.Zlink.Services;

/// <summary>How far a registration is, at one registry or as a whole.</summary>
public enum RegistrationState
{
    /// <summary>A registry is connected and has not answered yet, or no connection was tried yet.</summary>
    Pending,

    /// <summary>The registry lists the service. Of a whole registration: at least one registry does.</summary>
    Registered,

    /// <summary>The registry refused it. It is asked again on the next connection. Of a whole registration: each connected registry refused
    /// it.</summary>
    Refused,

    /// <summary>There is no connection to the registry. Of a whole registration: to none of them.</summary>
    Unreachable,

    /// <summary>The registration was disposed, or its receiver was.</summary>
    Ended,
}
