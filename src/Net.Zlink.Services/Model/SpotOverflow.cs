namespace Net.Zlink.Services;

/// <summary>Which message a subscriber's full queue drops.</summary>
public enum SpotOverflow
{
    /// <summary>The one that arrives, as the native core does.</summary>
    DropNewest = 0,

    /// <summary>The one that has waited longest.</summary>
    DropOldest,
}
