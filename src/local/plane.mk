# plane
